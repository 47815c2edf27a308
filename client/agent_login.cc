#include "client/agent_login.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "rpc/errors.h"

namespace tarcil {
namespace {

// KJ's words for a call of an interface that the peer does not have; of one that lacks just the method it has
// others.
constexpr std::string_view kOtherInterface = "interface not implemented";

// Cap'n Proto's for bytes that are no message. It ends the connection by them, so to calls it looks lost.
constexpr std::array<std::string_view, 2> kNoMessage = {"Message has too many segments",
                                                        "Message is too large"};

bool hasOneOf(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

kj::Promise<kj::Own<Connection>> connectToAgent(Net net, const std::string& agent) {
  return kj::evalNow([net, &agent]() { return connect(net, agent, {MemberRole::kAgent}); })
      .then([](kj::Own<Connection>&& connection) { return kj::mv(connection); },
            [](kj::Exception&& exception) -> kj::Own<Connection> {
              const std::string why = fromException(exception).message;
              kj::throwFatalException(kj::Exception(kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__,
                                                    kj::heapString(why.data(), why.size())));
            });
}

Error loginError(const std::string& agent, const kj::Exception& exception) {
  Error error = fromException(exception);
  if (wasSent(exception)) return error;
  const bool isForeign = hasOneOf(error.message, kNoMessage);
  if (isForeign ||
      (error.code == ErrorCode::kInternal && exception.getType() != kj::Exception::Type::UNIMPLEMENTED)) {
    return denied("what listens at " + agent + " does not speak tarcil's protocol" +
                  (isForeign ? "" : " (" + error.message + ")") +
                  "; give an agent's address (`tarcil serve agent --listen`), no port for metrics or pages");
  }
  if (error.message.find(kOtherInterface) == std::string::npos) return error;
  return denied(agent +
                " is a master (or monitor), not an agent; give an agent's address (`tarcil serve agent "
                "--listen`)");
}

}  // namespace tarcil
