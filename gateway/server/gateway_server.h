// A gateway's I/O: requests over HTTP, answered by the page, by what the gateway follows, or by the cluster.
#pragma once

#include <kj/async-io.h>
#include <kj/compat/http.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "cli/job_reference.h"
#include "client/client.h"
#include "env/clock.h"
#include "gateway/logic/answer_cache.h"
#include "gateway/logic/event_ring.h"
#include "gateway/logic/job_copy.h"
#include "gateway/logic/origins.h"
#include "gateway/logic/performance_log.h"
#include "gateway/logic/routes.h"
#include "gateway/logic/sign_in.h"
#include "gateway/server/event_feed.h"
#include "gateway/server/gateway_metrics.h"
#include "gateway/server/gateway_options.h"
#include "gateway/server/identities.h"
#include "gateway/server/late_feed.h"
#include "gateway/server/logs.h"
#include "gateway/server/page.h"
#include "gateway/server/replays.h"
#include "gateway/server/reply.h"
#include "gateway/server/seal.h"
#include "gateway/server/streams.h"
#include "gateway/server/workers.h"
#include "rpc/acceptor.h"
#include "rpc/wait_list.h"

namespace tarcil::gateway {

// Single-threaded, but for its Workers.
class GatewayServer final : private kj::HttpService,
                            private kj::HttpServerErrorHandler,
                            private kj::TaskSet::ErrorHandler {
 public:
  // `address`: where it listens, HOST:PORT or unix:PATH. `port` is the event loop's; it and `clock` outlive
  // this.
  GatewayServer(Net net, kj::UnixEventPort& port, const Clock& clock, std::string address, Origins origins,
                Seal::Key key, GatewayOptions options);
  ~GatewayServer() noexcept(false);
  KJ_DISALLOW_COPY(GatewayServer);

  // Serves until the promise is dropped.
  kj::Promise<void> serve(kj::Own<kj::ConnectionReceiver> receiver);

  // In Prometheus' text format.
  kj::Promise<std::string> metrics();

  struct HeaderIds;

 private:
  // A request, as far as its headers say it.
  struct Asked {
    kj::HttpMethod method{};
    std::string target{};
    std::string host{}, origin{}, bearer{}, cookies{}, contentType{}, lastEventId{}, noneMatch{};
    bool hasGuard = false;
  };
  // Whose request it is.
  struct Who {
    std::string token;
    Caller caller;
    std::optional<Ticket> session;
  };
  // A question that was put to the cluster, with who waits for the answer.
  struct Asking {
    std::vector<kj::Own<kj::PromiseFulfiller<std::shared_ptr<const Reply>>>> waiting;
    bool isOld = false;  // the user has changed something since
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  kj::Promise<void> request(kj::HttpMethod method, kj::StringPtr url, const kj::HttpHeaders& headers,
                            kj::AsyncInputStream& body, Response& response) override;
  kj::Promise<void> handleClientProtocolError(kj::HttpHeaders::ProtocolError error,
                                              Response& response) override;
  kj::Promise<void> handleApplicationError(kj::Exception exception, kj::Maybe<Response&> response) override;
  void taskFailed(kj::Exception&& exception) override;

  Asked read(kj::HttpMethod method, kj::StringPtr url, const kj::HttpHeaders& headers) const;
  kj::Promise<void> dispatch(Asked& asked, kj::AsyncInputStream& body, Response& response);
  kj::Promise<void> withBody(const Asked& asked, const Question& question, Who who,
                             kj::AsyncInputStream& body, Response& response);
  kj::Promise<void> perform(const Asked& asked, const Question& question, const Who& who, std::string body,
                            Response& response);
  kj::Promise<void> sendPage(const Asked& asked, Response& response);

  using Identified = std::variant<Who, Reply>;  // or why it is nobody's
  kj::Promise<Identified> identify(const Asked& asked, const Route& route);
  std::optional<Ticket> sessionOf(const Asked& asked) const;

  // --- What is answered in which way ---
  kj::Promise<void> ask(const Question& question, const std::string& target, const Who& who,
                        Response& response);
  void put(const Question& question, const std::string& target, const std::string& token,
           std::shared_ptr<Asking> asking);
  void forgetAnswersTo(const std::string& token);
  kj::Promise<void> act(const Question& question, const Who& who, std::string body, Response& response);
  kj::Promise<void> answerHere(const Question& question, const Who& who, const std::string& body,
                               Response& response);
  kj::Promise<void> answerReplay(const Question& question, const Who& who, const std::string& body,
                                 Response& response);
  kj::Promise<void> streamEvents(const Asked& asked, const Who& who, Response& response);
  kj::Promise<void> keepKnown(const std::string& token);
  kj::Promise<void> sendLog(const Question& question, const Who& who, Response& response);
  kj::Promise<void> sendFile(const Question& question, const Who& who, Response& response);
  kj::Promise<void> streamLog(const Question& question, const Who& who, const LogPiece& begin,
                              Response& response);
  kj::Promise<void> signIn(const std::string& body, Response& response);
  std::optional<JobId> idOf(const JobReference& reference) const;
  Reply performance(const Arguments& arguments, const Caller& caller) const;
  Reply summaries(const Arguments& arguments, const Caller& caller) const;
  Json sessionJson(const Caller& caller, const std::optional<Ticket>& session) const;
  Ticket makeTicket(Ticket::Kind kind, const std::string& token, Duration time) const;
  std::string cookieOf(const std::string& value, Duration time) const;

  // --- Sending ---
  kj::Promise<void> send(Response& response, const Reply& reply, const Headers& more = {});
  kj::Promise<void> sendBody(Response& response, int status, const char* type,
                             std::shared_ptr<const std::string> body, Headers more);
  kj::Own<kj::AsyncOutputStream> beginStream(Response& response);
  void count(int status);

  void take(kj::Own<kj::AsyncIoStream> stream);

  const Net net_;
  const Clock& clock_;
  const std::string address_;
  const std::string cookieName_;
  const GatewayOptions options_;
  const StreamBounds streamBounds_;
  const Origins origins_;
  const Seal seal_;
  const Page page_;

  kj::Own<HeaderIds> ids_;
  kj::Own<kj::HttpHeaderTable> headerTable_;

  GatewayMetrics metrics_;
  EventRing ring_;
  const WallTime since_;  // from when on it has been told what happens
  JobCopy jobs_;
  PerformanceLog performances_;
  AnswerCache cache_;
  SpentTickets spent_;
  StreamPlaces places_;
  WaitList<int> news_;
  Client client_;  // the gateway's own
  Workers workers_;
  Identities identities_;
  EventFeed feed_;
  LateFeed lateFeed_;
  Replays replays_;

  std::unordered_map<std::string, std::map<std::string, std::shared_ptr<Asking>>>
      underWay_;  // by token and question

  kj::Own<kj::HttpServer> http_;
  kj::Own<Acceptor> acceptor_;
  size_t connections_ = 0;
  std::map<std::string, size_t> ofAddress_;
  kj::TaskSet tasks_;
};

}  // namespace tarcil::gateway
