#include "gateway/server/gateway_server.h"

#include <kj/debug.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>

#include "cli/job_reference.h"
#include "cli/output/render.h"
#include "core/base/text.h"
#include "env/loop_step.h"
#include "gateway/server/answers.h"
#include "gateway/server/openapi.h"
#include "rpc/errors.h"

namespace tarcil::gateway {
namespace {

constexpr Duration kWordTime = std::chrono::minutes(5);
constexpr size_t kMaxSpent = 100'000;
// Between looks whether the token of a stream still counts.
constexpr auto kBetweenLooks = 20 * kj::SECONDS;
constexpr size_t kMaxSummaries = 500;
constexpr const char* kJsonType = "application/json";

// What browsers are told with every answer. Nothing that others serve is fetched, and nobody frames the page.
constexpr const char* kPagePolicy =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; "
    "img-src 'self' data:";
constexpr const char* kDataPolicy = "default-src 'none'; frame-ancestors 'none'";

std::string headerText(kj::Maybe<kj::StringPtr> value) {
  KJ_IF_MAYBE (text, value) {
    return {text->cStr(), text->size()};
  }
  return "";
}

std::string_view pathOf(std::string_view target) {
  return target.substr(0, target.find('?'));
}

// HOST:PORT, as headers have it, without what is not allowed in the name of a cookie.
std::string cookieNameFor(const std::string& address) {
  std::string name = "tarcil_session_";
  const size_t colon = address.rfind(':');
  for (const char letter : address.substr(colon == std::string::npos ? 0 : colon + 1)) {
    name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  }
  return name;
}

// Of a Cookie header; empty where it is not there.
std::string cookieIn(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(name) && one.size() > name.size() && one[name.size()] == '=')
      return std::string(one.substr(name.size() + 1));
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
  }
  return "";
}

// Without its port: what connections of one peer have in common. Empty for a Unix socket, which has
// permissions.
std::string addressOf(kj::AsyncIoStream& stream) {
  sockaddr_storage peer{};
  kj::uint length = sizeof peer;
  try {
    stream.getpeername(reinterpret_cast<sockaddr*>(&peer), &length);
  } catch (const kj::Exception&) {
    return "";  // it is gone already
  }
  if (peer.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    return {reinterpret_cast<const char*>(&address), sizeof address};
  }
  if (peer.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
    return {reinterpret_cast<const char*>(&address),
            8};  // of a network: who has one has all of its addresses
  }
  return "";
}

}  // namespace

struct GatewayServer::HeaderIds {
  explicit HeaderIds(kj::HttpHeaderTable::Builder& builder)
      : guard(builder.add("X-Tarcil")),
        origin(builder.add("Origin")),
        cookie(builder.add("Cookie")),
        authorization(builder.add("Authorization")),
        lastEventId(builder.add("Last-Event-ID")),
        noneMatch(builder.add("If-None-Match")) {}

  kj::HttpHeaderId guard, origin, cookie, authorization, lastEventId, noneMatch;
};

namespace {

kj::Own<kj::HttpHeaderTable> makeTable(kj::Own<GatewayServer::HeaderIds>& ids) {
  kj::HttpHeaderTable::Builder builder;
  ids = kj::heap<GatewayServer::HeaderIds>(builder);
  return builder.build();
}

StreamBounds streamBoundsOf(const GatewayOptions& options) {
  StreamBounds bounds;
  bounds.inAll = options.streams;
  bounds.ofUser = options.streamsOfUser;
  bounds.write = options.readTime.count() * kj::MICROSECONDS;
  return bounds;
}

uint64_t randomNumber(const Seal::Key& key) {
  uint64_t number = 1;
  for (size_t i = 0; i < 8; ++i) number = number << 8 | key[i];
  return number;
}

}  // namespace

GatewayServer::GatewayServer(Net net, kj::UnixEventPort& port, const Clock& clock, std::string address,
                             Origins origins, Seal::Key key, GatewayOptions options)
    : net_(net),
      clock_(clock),
      address_(std::move(address)),
      cookieName_(cookieNameFor(address_)),
      options_(std::move(options)),
      streamBounds_(streamBoundsOf(options_)),
      origins_(std::move(origins)),
      seal_(key),
      page_(pageFiles()),
      headerTable_(makeTable(ids_)),
      ring_(randomNumber(Seal::randomKey()), options_.events),
      since_(clock_.now().wall),
      jobs_(options_.jobs),
      cache_(options_.refresh, options_.cacheBytes),
      spent_(kMaxSpent),
      places_(streamBounds_),
      client_(net, options_.agents, options_.token, {},
              [](const std::string& message) { spdlog::warn("{}", message); }),
      workers_(options_.agents, {.threads = options_.threads}, options_.trust),
      identities_(workers_, clock),
      feed_(client_, net.timer, clock, ring_, jobs_, performances_, [this]() { news_.happened(kNews); }),
      lateFeed_(workers_, net.timer, ring_, options_.token, [this]() { news_.happened(kNews); }),
      replays_(net, port, clock, options_.replay,
               [this](const Json& replay, const std::string& user) {
                 ring_.add({"replay", textOf(replay), user});
                 news_.happened(kNews);
               }),
      tasks_(*this) {
  kj::HttpServerSettings settings;
  settings.headerTimeout = options_.requestTime.count() * kj::MICROSECONDS;
  settings.pipelineTimeout = options_.readTime.count() * kj::MICROSECONDS;
  settings.errorHandler = static_cast<kj::HttpServerErrorHandler&>(*this);
  http_ = kj::heap<kj::HttpServer>(net.timer, *headerTable_, static_cast<kj::HttpService&>(*this), settings);
}

GatewayServer::~GatewayServer() noexcept(false) = default;

kj::Promise<void> GatewayServer::serve(kj::Own<kj::ConnectionReceiver> receiver) {
  acceptor_ = kj::heap<Acceptor>(net_.timer, kj::mv(receiver),
                                 [this](kj::Own<kj::AsyncIoStream> stream) { take(kj::mv(stream)); });
  tasks_.add(feed_.run());
  tasks_.add(lateFeed_.run());
  tasks_.add(replays_.record());
  return acceptor_->run();
}

void GatewayServer::take(kj::Own<kj::AsyncIoStream> stream) {
  const std::string address = addressOf(*stream);
  size_t& ofAddress = ofAddress_[address];
  if (connections_ >= options_.connections ||
      (!address.empty() && ofAddress >= options_.connectionsOfAddress)) {
    if (ofAddress == 0) ofAddress_.erase(address);
    metrics_.turnedAway.Increment();
    return;
  }
  ++connections_;
  ++ofAddress;
  auto served = http_->listenHttp(kj::mv(stream));
  tasks_.add(served.attach(kj::defer([this, address]() {
    --connections_;
    if (const auto found = ofAddress_.find(address); --found->second == 0) ofAddress_.erase(found);
  })));
}

void GatewayServer::taskFailed(kj::Exception&& exception) {
  spdlog::debug("a connection ended: {}", exception.getDescription().cStr());
}

// --- Reading requests ---

GatewayServer::Asked GatewayServer::read(kj::HttpMethod method, kj::StringPtr url,
                                         const kj::HttpHeaders& headers) const {
  Asked asked{.method = method, .target = {url.cStr(), url.size()}};
  asked.host = headerText(headers.get(kj::HttpHeaderId::HOST));
  asked.origin = headerText(headers.get(ids_->origin));
  asked.cookies = headerText(headers.get(ids_->cookie));
  asked.contentType = headerText(headers.get(kj::HttpHeaderId::CONTENT_TYPE));
  asked.lastEventId = headerText(headers.get(ids_->lastEventId));
  asked.noneMatch = headerText(headers.get(ids_->noneMatch));
  asked.hasGuard = headerText(headers.get(ids_->guard)) == "1";
  const std::string authorization = headerText(headers.get(ids_->authorization));
  constexpr std::string_view kBearer = "Bearer ";
  if (authorization.starts_with(kBearer)) asked.bearer = authorization.substr(kBearer.size());
  return asked;
}

kj::Promise<void> GatewayServer::request(kj::HttpMethod method, kj::StringPtr url,
                                         const kj::HttpHeaders& headers, kj::AsyncInputStream& body,
                                         Response& response) {
  auto asked = kj::heap(read(method, url, headers));
  Asked& there = *asked;
  return dispatch(there, body, response).attach(kj::mv(asked));
}

kj::Promise<void> GatewayServer::dispatch(Asked& asked, kj::AsyncInputStream& body, Response& response) {
  if (!origins_.servesHost(asked.host)) {
    return send(response, errorReply(421, "host",
                                     "this is not " + shown(asked.host) +
                                         "; say with --host under which names the gateway "
                                         "is reached"));
  }
  if (!asked.target.starts_with("/api/")) return sendPage(asked, response);
  const std::string method(kj::toCharSequence(asked.method).begin(), kj::toCharSequence(asked.method).size());
  auto matched = match(method, asked.target);
  if (!matched) return send(response, errorReply(matched.error()));
  if (std::holds_alternative<NoSuchPath>(*matched)) {
    return send(response,
                errorReply(404, "not-found",
                           shown(pathOf(asked.target)) + " is not there; /api/v1/openapi.json has what is"));
  }
  if (const auto* other = std::get_if<OtherMethod>(&*matched)) {
    std::vector<std::string_view> methods;
    for (const Method one : other->methods) methods.push_back(name(one));
    return send(response,
                errorReply(405, "method", method + " is not served here; use " + joined(methods, " or ")),
                {{"Allow", joined(methods)}});
  }
  Question& question = std::get<Question>(*matched);
  if (question.route->method == Method::kPost) {
    if (!asked.hasGuard)
      return send(response, errorReply(403, "denied", "a POST carries the header X-Tarcil: 1; add it"));
    if (!asked.origin.empty() && !origins_.isOwn(asked.origin))
      return send(response,
                  errorReply(403, "denied", "the page of " + shown(asked.origin) + " is not this gateway's"));
  }
  auto owned = kj::heap(std::move(question));
  const Question& there = *owned;
  return identify(asked, *there.route)
      .then([this, &asked, &there, &body, &response](Identified&& who) -> kj::Promise<void> {
        if (auto* refusal = std::get_if<Reply>(&who))
          return send(response, *refusal, {{"WWW-Authenticate", "Bearer"}});
        return withBody(asked, there, std::get<Who>(std::move(who)), body, response);
      })
      .attach(kj::mv(owned));
}

kj::Promise<void> GatewayServer::withBody(const Asked& asked, const Question& question, Who who,
                                          kj::AsyncInputStream& body, Response& response) {
  if (question.route->body == Body::kNone) return perform(asked, question, who, "", response);
  const uint64_t most = options_.bodyBytes;
  const auto tooLarge = [this, most, &response]() {
    return send(response,
                errorReply(413, "too-large",
                           "the body is larger than " + std::to_string(most) + " bytes; send less"));
  };
  KJ_IF_MAYBE (length, body.tryGetLength()) {
    if (*length > most) return tooLarge();
  }
  const bool isJson = question.route->body != Body::kJobFile;
  const bool isSaidToBe =
      asked.contentType == kJsonType || asked.contentType.starts_with("application/json;");
  auto text = body.readAllText(most).then(
      [](kj::String&& all) -> kj::Maybe<std::string> { return std::string(all.cStr(), all.size()); },
      [](kj::Exception&& exception) -> kj::Maybe<std::string> {
        if (exception.getType() == kj::Exception::Type::DISCONNECTED)
          kj::throwFatalException(kj::mv(exception));
        return nullptr;
      });
  auto tooLate =
      net_.timer.afterDelay(options_.requestTime.count() * kj::MICROSECONDS)
          .then([]() -> kj::Maybe<std::string> {
            kj::throwFatalException(toException({ErrorCode::kUnavailable, "the body did not come in time"}));
          });
  return text.exclusiveJoin(kj::mv(tooLate))
      .then([this, &asked, &question, who = std::move(who), &response, tooLarge, isJson,
             isSaidToBe](kj::Maybe<std::string>&& read) mutable -> kj::Promise<void> {
        KJ_IF_MAYBE (all, read) {
          if (all->empty() && question.route->body != Body::kOptionalJson)
            return send(response, errorReply(411, "length", "the body is missing; see /api/v1/openapi.json"));
          if (isJson && !all->empty() && !isSaidToBe)
            return send(response, errorReply(415, "media-type",
                                             "the body is said to be " + shown(asked.contentType) +
                                                 "; send JSON with Content-Type: application/json"));
          return perform(asked, question, who, std::move(*all), response);
        }
        return tooLarge();
      });
}

std::optional<Ticket> GatewayServer::sessionOf(const Asked& asked) const {
  const std::string cookie = cookieIn(asked.cookies, cookieName_);
  const auto opened = cookie.empty() ? std::nullopt : seal_.opened(cookie);
  auto ticket = opened ? Ticket::parse(*opened) : std::nullopt;
  if (!ticket || ticket->kind != Ticket::Kind::kSession || ticket->expires <= clock_.now().wall ||
      spent_.isSpent(*ticket))
    return std::nullopt;
  return ticket;
}

kj::Promise<GatewayServer::Identified> GatewayServer::identify(const Asked& asked, const Route& route) {
  if (route.access == Access::kAnyone) return Identified(Who{});
  Who who;
  who.token = asked.bearer;
  if (who.token.empty() && route.access == Access::kUser) {
    who.session = sessionOf(asked);
    if (who.session) who.token = who.session->token;
  }
  if (who.token.empty()) {
    return Identified(
        errorReply(401, "unauthenticated",
                   route.access == Access::kToken
                       ? "send Authorization: Bearer TOKEN"
                       : "send Authorization: Bearer TOKEN, or sign in: `tarcil page` prints where"));
  }
  KJ_IF_MAYBE (caller, identities_.known(who.token)) {
    who.caller = *caller;
    return Identified(std::move(who));
  }
  const std::string token = who.token;
  return identities_.check(token).then(
      [who = std::move(who)](Caller&& caller) mutable -> Identified {
        who.caller = kj::mv(caller);
        return std::move(who);
      },
      [](kj::Exception&& exception) -> Identified {
        const Error error = fromException(exception);
        return error.code == ErrorCode::kDenied ? errorReply(401, "unauthenticated", error.message)
                                                : errorReply(error);
      });
}

// --- Answering ---

kj::Promise<void> GatewayServer::perform(const Asked& asked, const Question& question, const Who& who,
                                         std::string body, Response& response) {
  switch (question.route->answering) {
    case Answering::kAsked:
      return ask(question, asked.target, who, response);
    case Answering::kDone:
      return act(question, who, std::move(body), response);
    case Answering::kHere:
      return answerHere(question, who, body, response);
    case Answering::kStreamed:
      break;
  }
  if (asked.method == kj::HttpMethod::HEAD)
    return send(response, errorReply(405, "method", "a stream has no head alone; use GET"),
                {{"Allow", "GET"}});
  if (question.route->operation == Operation::kEvents) return streamEvents(asked, who, response);
  if (question.route->operation == Operation::kFile) return sendFile(question, who, response);
  return sendLog(question, who, response);
}

kj::Promise<void> GatewayServer::sendPage(const Asked& asked, Response& response) {
  if (asked.method != kj::HttpMethod::GET && asked.method != kj::HttpMethod::HEAD)
    return send(response, errorReply(405, "method", "the page is got with GET"), {{"Allow", "GET"}});
  const ServedFile* file = page_.find(pathOf(asked.target));
  if (file == nullptr)
    return send(response, errorReply(404, "not-found", shown(pathOf(asked.target)) + " is not there"));
  const Headers headers = {
      {"ETag", file->digest},
      {"Cache-Control", file->isForGood ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Content-Security-Policy", kPagePolicy}};
  const bool isThere = asked.noneMatch == file->digest;
  return sendBody(response, isThere ? 304 : 200, file->type.c_str(),
                  std::make_shared<const std::string>(isThere ? std::string_view() : file->content), headers);
}

kj::Promise<void> GatewayServer::ask(const Question& question, const std::string& target, const Who& who,
                                     Response& response) {
  const auto now = clock_.now().steady;
  if (const AnswerCache::Kept* kept = cache_.find(who.token, target, now)) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - kept->made).count();
    return sendBody(response, 200, kJsonType, kept->body, {{"Tarcil-Age", std::to_string(age)}});
  }
  auto& asking = underWay_[who.token][target];
  auto pair = kj::newPromiseAndFulfiller<std::shared_ptr<const Reply>>();
  const bool isNew = asking == nullptr;
  if (isNew) asking = std::make_shared<Asking>();
  asking->waiting.push_back(kj::mv(pair.fulfiller));
  if (isNew) put(question, target, who.token, asking);
  return pair.promise.then([this, &response](std::shared_ptr<const Reply>&& reply) {
    return sendBody(response, reply->status, kJsonType, {reply, &reply->body}, {{"Tarcil-Age", "0"}});
  });
}

void GatewayServer::put(const Question& question, const std::string& target, const std::string& token,
                        std::shared_ptr<Asking> asking) {
  metrics_.questions.Increment();
  const auto begun = clock_.now().steady;
  auto asked = kj::evalNow([&]() {
    return workers_.ask<Reply>(token, [question](Cluster& cluster) { return answer(cluster, question, ""); });
  });
  tasks_.add(asked
                 .then([](Reply&& reply) { return kj::mv(reply); },
                       [](kj::Exception&& exception) { return errorReply(fromException(exception)); })
                 .then([this, token, target, begun, asking](Reply&& reply) {
                   metrics_.questionSeconds.Observe(seconds(clock_.now().steady - begun));
                   const auto shared = std::make_shared<const Reply>(kj::mv(reply));
                   if (!asking->isOld) {
                     if (shared->status == 200) cache_.put(token, target, {{shared, &shared->body}, begun});
                     const auto ofUser = underWay_.find(token);
                     ofUser->second.erase(target);
                     if (ofUser->second.empty()) underWay_.erase(ofUser);
                   }
                   for (auto& one : asking->waiting) one->fulfill(std::shared_ptr(shared));
                 }));
}

// What is asked from now on of this user is not to be answered by what was asked before.
void GatewayServer::forgetAnswersTo(const std::string& token) {
  cache_.forget(token);
  const auto asked = underWay_.extract(token);
  if (!asked) return;
  for (auto& [target, asking] : asked.mapped()) asking->isOld = true;
}

kj::Promise<void> GatewayServer::act(const Question& question, const Who& who, std::string body,
                                     Response& response) {
  metrics_.questions.Increment();
  auto done = workers_.ask<Reply>(who.token, [question, body = std::move(body)](Cluster& cluster) {
    return answer(cluster, question, body);
  });
  return done.then([this, token = who.token, &response](Reply&& reply) {
    forgetAnswersTo(token);
    return send(response, reply);
  });
}

Json GatewayServer::sessionJson(const Caller& caller, const std::optional<Ticket>& session) const {
  return {{"user", caller.user},
          {"role", tarcil::name(caller.role)},
          {"expires", session ? jsonTime(session->expires) : Json()}};
}

Ticket GatewayServer::makeTicket(Ticket::Kind kind, const std::string& token, Duration time) const {
  return {.kind = kind, .id = randomId(), .expires = clock_.now().wall + time, .token = token};
}

std::string GatewayServer::cookieOf(const std::string& value, Duration time) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return cookieName_ + "=" + value +
         "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(seconds);
}

kj::Promise<void> GatewayServer::answerHere(const Question& question, const Who& who, const std::string& body,
                                            Response& response) {
  switch (question.route->operation) {
    case Operation::kOpenApi:
      return send(response, {200, textOf(openApi())});
    case Operation::kSummaries:
      return send(response, summaries(question.arguments, who.caller));
    case Operation::kPerformance:
      return send(response, performance(question.arguments, who.caller));
    case Operation::kReplay:
    case Operation::kBeginReplay:
    case Operation::kCancelReplay:
      return answerReplay(question, who, body, response);
    case Operation::kWord: {
      const Ticket word = makeTicket(Ticket::Kind::kWord, who.token, kWordTime);
      return send(response,
                  {200, textOf({{"word", seal_.sealed(word.text())}, {"expires", jsonTime(word.expires)}})});
    }
    case Operation::kSignIn:
      return signIn(body, response);
    case Operation::kSession:
      return send(response, {200, textOf(sessionJson(who.caller, who.session))});
    case Operation::kSignOut:
      if (who.session && !spent_.spend(*who.session, clock_.now().wall) && !spent_.isSpent(*who.session))
        return send(response, errorReply(429, "exhausted", "too many sessions have ended; try again later"));
      return send(response, {200, "{}"}, {{"Set-Cookie", cookieOf("", {})}});
    default:
      return send(response,
                  errorReply(500, "internal", std::string(question.route->path) + " is not answered here"));
  }
}

kj::Promise<void> GatewayServer::answerReplay(const Question& question, const Who& who,
                                              const std::string& body, Response& response) {
  if (who.caller.role != Role::kOperate)
    return send(response,
                errorReply(403, "denied", "a replay has everybody's jobs; ask with a token of role operate"));
  Status done;
  if (question.route->operation == Operation::kBeginReplay) done = replays_.begin(who.caller.user, body);
  if (question.route->operation == Operation::kCancelReplay) done = replays_.cancel();
  return send(response, done ? Reply{200, textOf(replays_.json())} : errorReply(done.error()));
}

kj::Promise<void> GatewayServer::signIn(const std::string& body, Response& response) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("word") || !json.at("word").is_string())
    return send(response, errorReply(400, "invalid", "the body does not fit; write {\"word\": \"...\"}"));
  const auto opened = seal_.opened(json.at("word").get<std::string>());
  const auto word = opened ? Ticket::parse(*opened) : std::nullopt;
  const WallTime now = clock_.now().wall;
  if (!word || word->kind != Ticket::Kind::kWord || word->expires <= now || !spent_.spend(*word, now)) {
    return send(
        response,
        errorReply(401, "unauthenticated",
                   "the word is wrong, older than five minutes, or was used; `tarcil page` prints another"));
  }
  return identities_.check(word->token).then([this, token = word->token, &response](Caller&& caller) {
    const Ticket session = makeTicket(Ticket::Kind::kSession, token, options_.sessionTime);
    return send(response, {200, textOf(sessionJson(caller, session))},
                {{"Set-Cookie", cookieOf(seal_.sealed(session.text()), options_.sessionTime)}});
  });
}

// Of a job that the gateway has a copy of, or an id as it was written.
std::optional<JobId> GatewayServer::idOf(const JobReference& reference) const {
  return reference.number > 0 ? jobs_.idOf(reference.number) : parseJobId(reference.prefix);
}

Reply GatewayServer::summaries(const Arguments& arguments, const Caller& caller) const {
  if (!feed_.isWhole())
    return errorReply(503, "unavailable", "the gateway does not know the jobs yet; try again in a second");
  const std::string& list = arguments.text("jobs");
  std::string body = "[";
  size_t count = 0;
  for (size_t start = 0; !list.empty();) {
    const size_t end = std::min(list.find(',', start), list.size());
    const auto reference = parseJobReference(list.substr(start, end - start));
    if (!reference) return errorReply(400, "invalid", "jobs: " + reference.error().message);
    if (++count > kMaxSummaries) return errorReply(400, "invalid", "jobs: write at most 500");
    const auto id = idOf(*reference);
    const std::string* json = id ? jobs_.find(*id, caller) : nullptr;
    if (json != nullptr) body += (body.size() > 1 ? "," : "") + *json;
    if (end == list.size()) break;
    start = end + 1;
  }
  return {200, body + "]"};
}

Reply GatewayServer::performance(const Arguments& arguments, const Caller& caller) const {
  const auto reference = parseJobReference(arguments.text("job"));
  if (!reference) return errorReply(400, "invalid", "job: " + reference.error().message);
  const auto id = idOf(*reference);
  if (!id || jobs_.find(*id, caller) == nullptr)
    return errorReply(404, "not-found", "the gateway knows no job " + shown(arguments.text("job")));
  Json tasks = Json::array();
  for (const auto& [task, measures] : performances_.of(*id)) {
    Json list = Json::array();
    for (const Measure& measure : measures)
      list.push_back({{"at", jsonTime(measure.at)}, {"part", measure.part}});
    tasks.push_back({{"task", task}, {"measures", std::move(list)}});
  }
  return {200, textOf({{"id", toString(*id)}, {"since", jsonTime(since_)}, {"tasks", std::move(tasks)}})};
}

// --- Streams ---

kj::Promise<void> GatewayServer::streamEvents(const Asked& asked, const Who& who, Response& response) {
  EventPosition from = ring_.end();
  if (!asked.lastEventId.empty()) {
    const auto position = EventPosition::parse(asked.lastEventId);
    if (!position) return send(response, errorReply(position.error()));
    from = *position;
  }
  auto place = kj::evalNow([&]() { return places_.take(who.caller.user); });
  return place.then([this, from, token = who.token, session = who.session,
                     &response](kj::Own<StreamPlaces::Place>&& taken) {
    auto caller = kj::heap<Caller>();
    Caller& room = *caller;
    // Those who have signed out, or whose token is no longer right, are told nothing more.
    const auto whoReads = [this, token, session, &room]() -> kj::Maybe<const Caller&> {
      if (session && (spent_.isSpent(*session) || session->expires <= clock_.now().wall)) return nullptr;
      KJ_IF_MAYBE (known, identities_.known(token)) {
        room = *known;
        return room;
      }
      return nullptr;
    };
    auto stream =
        kj::heap<EventStream>(net_.timer, streamBounds_, ring_, news_, beginStream(response), from, whoReads);
    EventStream& there = *stream;
    auto running = there.run();
    return running.exclusiveJoin(keepKnown(token)).attach(kj::mv(stream), kj::mv(caller), kj::mv(taken));
  });
}

// For as long as somebody listens the token is asked about anew; done when it is right no more.
kj::Promise<void> GatewayServer::keepKnown(const std::string& token) {
  return identities_.renew(token).then([this, token](bool isRight) -> kj::Promise<void> {
    if (!isRight) return kj::READY_NOW;
    return net_.timer.afterDelay(kBetweenLooks).then([this, token]() { return keepKnown(token); });
  });
}

kj::Promise<void> GatewayServer::sendLog(const Question& question, const Who& who, Response& response) {
  metrics_.questions.Increment();
  struct Read {
    LogPiece piece;
    Reply problem;
  };
  auto read = workers_.ask<Read>(who.token, [question](Cluster& cluster) -> Read {
    try {
      return {readLog(cluster, question.arguments), {}};
    } catch (const Failure& failure) {
      return {{}, errorReply(failure, false)};
    }
  });
  return read.then([this, &question, who, &response](Read&& read) -> kj::Promise<void> {
    if (!read.problem.body.empty()) return send(response, read.problem);
    if (question.arguments.flag("follow")) return streamLog(question, who, read.piece, response);
    return sendBody(response, 200, "text/plain; charset=utf-8",
                    std::make_shared<const std::string>(std::move(read.piece.text)),
                    {{"Tarcil-Next-Offset", std::to_string(read.piece.next)},
                     {"Tarcil-Ended", read.piece.isAll ? "true" : "false"}});
  });
}

kj::Promise<void> GatewayServer::sendFile(const Question& question, const Who& who, Response& response) {
  metrics_.questions.Increment();
  struct Read {
    std::string piece;
    Reply problem;
  };
  auto read = workers_.ask<Read>(who.token, [question](Cluster& cluster) -> Read {
    try {
      return {readFile(cluster, question.arguments), {}};
    } catch (const Failure& failure) {
      return {{}, errorReply(failure, false)};
    }
  });
  const auto offset = static_cast<uint64_t>(question.arguments.whole("offset"));
  return read.then([this, offset, &response](Read&& read) -> kj::Promise<void> {
    if (!read.problem.body.empty()) return send(response, read.problem);
    const uint64_t next = offset + read.piece.size();
    return sendBody(response, 200, "application/octet-stream",
                    std::make_shared<const std::string>(std::move(read.piece)),
                    {{"Tarcil-Next-Offset", std::to_string(next)}, {"Content-Disposition", "attachment"}});
  });
}

kj::Promise<void> GatewayServer::streamLog(const Question& question, const Who& who, const LogPiece& begin,
                                           Response& response) {
  auto place = places_.take(who.caller.user);
  if (begin.isLate) {
    auto read = [this, question, token = who.token](uint64_t offset) {
      Question next = question;
      next.arguments.set("offset", std::to_string(offset));
      return workers_.ask<LogPiece>(token,
                                    [next](Cluster& cluster) { return readLog(cluster, next.arguments); });
    };
    auto late = kj::heap<LateLogStream>(net_.timer, streamBounds_.write, beginStream(response), kj::mv(read));
    auto running = late->run(begin);
    return running.attach(kj::mv(late), kj::mv(place));
  }
  auto stream = kj::heap<LogStream>(net_, options_.agents, who.token, streamBounds_.write,
                                    beginStream(response), begin, question.arguments);
  auto running = stream->run();
  return running.attach(kj::mv(stream), kj::mv(place));
}

// --- Sending ---

void GatewayServer::count(int status) {
  metrics_.requests.at(static_cast<size_t>(std::clamp(status / 100, 2, 5) - 2))->Increment();
}

kj::Promise<void> GatewayServer::send(Response& response, const Reply& reply, const Headers& more) {
  Headers headers = more;
  if (reply.status == 429 || reply.status == 503) headers.emplace_back("Retry-After", "1");
  return sendBody(response, reply.status, kJsonType, std::make_shared<const std::string>(reply.body),
                  std::move(headers));
}

namespace {

void addUsual(kj::HttpHeaders& headers, bool hasPolicy, bool hasCaching) {
  headers.add("X-Content-Type-Options", "nosniff");
  headers.add("Referrer-Policy", "no-referrer");
  headers.add("Cross-Origin-Resource-Policy", "same-origin");
  if (!hasPolicy) headers.add("Content-Security-Policy", kDataPolicy);
  if (!hasCaching) headers.add("Cache-Control", "no-store");
}

}  // namespace

kj::Promise<void> GatewayServer::sendBody(Response& response, int status, const char* type,
                                          std::shared_ptr<const std::string> body, Headers more) {
  count(status);
  kj::HttpHeaders headers(*headerTable_);
  headers.set(kj::HttpHeaderId::CONTENT_TYPE, type);
  bool hasPolicy = false, hasCaching = false;
  for (const auto& [name, value] : more) {
    hasPolicy = hasPolicy || name == "Content-Security-Policy";
    hasCaching = hasCaching || name == "Cache-Control";
    headers.add(kj::StringPtr(name.c_str(), name.size()), kj::StringPtr(value.c_str(), value.size()));
  }
  addUsual(headers, hasPolicy, hasCaching);
  auto stream = response.send(static_cast<kj::uint>(status), reasonOf(status), headers, body->size());
  if (body->empty()) return kj::READY_NOW;
  auto written = stream->write(body->data(), body->size());
  auto tooLate = net_.timer.afterDelay(streamBounds_.write).then([]() -> kj::Promise<void> {
    return KJ_EXCEPTION(DISCONNECTED, "the reader does not take the answer");
  });
  return written.exclusiveJoin(kj::mv(tooLate)).attach(kj::mv(stream), std::move(body));
}

kj::Own<kj::AsyncOutputStream> GatewayServer::beginStream(Response& response) {
  count(200);
  kj::HttpHeaders headers(*headerTable_);
  headers.set(kj::HttpHeaderId::CONTENT_TYPE, "text/event-stream");
  headers.add("X-Accel-Buffering", "no");
  addUsual(headers, false, false);
  return response.send(200, "OK", headers, nullptr);
}

kj::Promise<void> GatewayServer::handleClientProtocolError(kj::HttpHeaders::ProtocolError error,
                                                           Response& response) {
  return send(response, errorReply(static_cast<int>(error.statusCode), "invalid", error.description.cStr()));
}

kj::Promise<void> GatewayServer::handleApplicationError(kj::Exception exception,
                                                        kj::Maybe<Response&> response) {
  if (exception.getType() == kj::Exception::Type::DISCONNECTED) return kj::READY_NOW;
  const Error error = fromException(exception);
  if (error.code == ErrorCode::kInternal) spdlog::error("a request failed: {}", error.message);
  KJ_IF_MAYBE (to, response) {
    return send(*to, errorReply(error));
  }
  return kj::READY_NOW;
}

kj::Promise<std::string> GatewayServer::metrics() {
  metrics_.streams.Set(static_cast<double>(places_.count()));
  metrics_.connections.Set(static_cast<double>(connections_));
  metrics_.waiting.Set(static_cast<double>(workers_.waiting()));
  metrics_.jobs.Set(static_cast<double>(jobs_.size()));
  metrics_.cacheBytes.Set(static_cast<double>(cache_.bytes()));
  raiseTo(metrics_.events, ring_.end().number);
  metrics_.longestStep.Set(seconds(longestStep().took));
  return metrics_.text();
}

}  // namespace tarcil::gateway
