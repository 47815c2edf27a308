#include "client/page_address.h"

#include <kj/compat/http.h>

#include <utility>

#include "formats/json.h"
#include "rpc/address.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr size_t kMaxAnswer = 64 << 10;
constexpr auto kPatience = 10 * kj::SECONDS;
constexpr kj::uint kFound = 200, kUnauthorized = 401, kBusy = 503;

const kj::HttpHeaderTable& headerTable() {
  static const kj::HttpHeaderTable kTable;
  return kTable;
}

ErrorCode codeOf(kj::uint status) {
  if (status == kUnauthorized) return ErrorCode::kDenied;
  return status == kBusy ? ErrorCode::kUnavailable : ErrorCode::kInternal;
}

std::string addressIn(const std::string& gateway, kj::uint status, kj::StringPtr body) {
  const Json json = Json::parse(body.begin(), body.end(), nullptr, /*allow_exceptions=*/false);
  const auto word = json.is_object() ? json.find("word") : json.end();
  if (status == kFound && word != json.end() && word->is_string())
    return "http://" + gateway + "/#" + word->get<std::string>();
  const auto error = json.is_object() ? json.find("error") : json.end();
  const bool hasMessage = error != json.end() && error->is_object() && error->contains("message") &&
                          error->at("message").is_string();
  const std::string why = hasMessage ? error->at("message").get<std::string>() : "it is no gateway of tarcil";
  kj::throwFatalException(
      toException({codeOf(status), "the gateway at " + gateway + " gives no word to sign in with: " + why}));
}

}  // namespace

kj::Promise<std::string> fetchPageAddress(Net net, const std::string& gateway, const std::string& token) {
  auto address =
      connectTo(net.network, net.io, gateway).then([gateway, token](kj::Own<kj::AsyncIoStream>&& stream) {
        auto client = kj::newHttpClient(headerTable(), *stream);
        kj::HttpHeaders headers(headerTable());
        headers.set(kj::HttpHeaderId::HOST, kj::heapString(gateway.c_str(), gateway.size()));
        headers.add("X-Tarcil", "1");
        const std::string bearer = "Bearer " + token;
        headers.add("Authorization", kj::heapString(bearer.c_str(), bearer.size()));
        auto asked = client->request(kj::HttpMethod::POST, "/api/v1/word", headers, uint64_t{0});
        return asked.response
            .then([gateway](kj::HttpClient::Response&& response) {
              auto text = response.body->readAllText(kMaxAnswer).attach(kj::mv(response.body));
              return text.then([gateway, status = response.statusCode](kj::String&& body) {
                return addressIn(gateway, status, body);
              });
            })
            .attach(kj::mv(asked.body))
            .attach(kj::mv(client))  // goes before the stream that it reads
            .attach(kj::mv(stream));
      });
  auto tooLate = net.timer.afterDelay(kPatience).then([gateway]() -> std::string {
    kj::throwFatalException(
        toException({ErrorCode::kUnavailable, "the gateway at " + gateway + " does not answer"}));
  });
  return address.exclusiveJoin(kj::mv(tooLate));
}

}  // namespace tarcil
