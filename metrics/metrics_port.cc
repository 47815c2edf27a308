#include "metrics/metrics_port.h"

#include <kj/compat/http.h>
#include <kj/debug.h>

#include <cstdint>
#include <map>

#include "rpc/acceptor.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr const char* kTextFormat = "text/plain; version=0.0.4; charset=utf-8";
constexpr kj::uint kFound = 200;

// Requests are of a kind: no headers but the usual ones.
const kj::HttpHeaderTable& headerTable() {
  static const kj::HttpHeaderTable kTable;
  return kTable;
}

// Without "?..." behind it.
kj::StringPtr pathOf(kj::StringPtr url, kj::String& room) {
  KJ_IF_MAYBE (mark, url.findFirst('?')) {
    room = kj::heapString(url.slice(0, *mark));
    return room;
  }
  return url;
}

class MetricsService final : public kj::HttpService {
 public:
  explicit MetricsService(MetricsText text) : text_(kj::mv(text)) {}

  kj::Promise<void> request(kj::HttpMethod method, kj::StringPtr url, const kj::HttpHeaders&,
                            kj::AsyncInputStream&, Response& response) override {
    kj::String room;
    if (method != kj::HttpMethod::GET && method != kj::HttpMethod::HEAD) {
      return response.sendError(405, "Method Not Allowed", headerTable());
    }
    if (pathOf(url, room) != "/metrics") return response.sendError(404, "Not Found", headerTable());
    return text_().then([&response](std::string&& text) {
      kj::HttpHeaders headers(headerTable());
      headers.set(kj::HttpHeaderId::CONTENT_TYPE, kTextFormat);
      auto stream = response.send(kFound, "OK", headers, text.size());
      auto body = kj::heap(kj::mv(text));
      auto written = stream->write(body->data(), body->size());
      return written.attach(kj::mv(body), kj::mv(stream));
    });
  }

 private:
  MetricsText text_;
};

class MetricsServer final : private kj::TaskSet::ErrorHandler {
 public:
  MetricsServer(kj::Own<kj::ConnectionReceiver> receiver, kj::Timer& timer, MetricsText text)
      : timer_(timer),
        acceptor_(timer, kj::mv(receiver),
                  [this](kj::Own<kj::AsyncIoStream> stream) { take(kj::mv(stream)); }),
        service_(kj::mv(text)),
        server_(timer, headerTable(), service_),
        connections_(*this) {}

  kj::Promise<void> run() { return acceptor_.run(); }

 private:
  void take(kj::Own<kj::AsyncIoStream> stream) {
    if (open_.size() == kMaxReaders) {
      open_.begin()->second->fulfill();
      open_.erase(open_.begin());
    }
    auto end = kj::newPromiseAndFulfiller<void>();
    const uint64_t number = next_++;
    open_.emplace(number, kj::mv(end.fulfiller));
    auto served = server_.listenHttp(kj::mv(stream));
    connections_.add(served.exclusiveJoin(kj::mv(end.promise))
                         .exclusiveJoin(timer_.afterDelay(kReadersTime))
                         .attach(kj::defer([this, number]() { open_.erase(number); })));
  }

  void taskFailed(kj::Exception&& exception) override { KJ_LOG(INFO, "reading metrics failed", exception); }

  kj::Timer& timer_;
  Acceptor acceptor_;
  MetricsService service_;
  kj::HttpServer server_;
  uint64_t next_ = 0;
  std::map<uint64_t, kj::Own<kj::PromiseFulfiller<void>>> open_;  // in the order in which they came
  kj::TaskSet connections_;
};

}  // namespace

kj::Promise<void> serveMetrics(kj::Own<kj::ConnectionReceiver> receiver, kj::Timer& timer, MetricsText text) {
  auto server = kj::heap<MetricsServer>(kj::mv(receiver), timer, kj::mv(text));
  auto serving = server->run();
  return serving.attach(kj::mv(server));
}

kj::Promise<std::string> fetchMetrics(Net net, const std::string& address) {
  return connectTo(net.network, net.io, address).then([address](kj::Own<kj::AsyncIoStream>&& stream) {
    auto client = kj::newHttpClient(headerTable(), *stream);
    kj::HttpHeaders headers(headerTable());
    headers.set(kj::HttpHeaderId::HOST, "tarcil");
    auto answer = client->request(kj::HttpMethod::GET, "/metrics", headers, uint64_t{0}).response;
    return answer
        .then([address](kj::HttpClient::Response&& response) {
          if (response.statusCode != kFound) {
            kj::throwFatalException(
                toException({ErrorCode::kInternal, "what listens at " + address + " serves no metrics"}));
          }
          auto text = response.body->readAllText();
          return text.attach(kj::mv(response.body));
        })
        .then([](kj::String&& text) { return std::string(text.begin(), text.size()); })
        .attach(kj::mv(client))  // goes before the stream that it reads
        .attach(kj::mv(stream));
  });
}

}  // namespace tarcil
