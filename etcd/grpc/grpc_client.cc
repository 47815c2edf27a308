// The module tarcil-etcd.so: a client of etcd over gRPC.
#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <sstream>

#include "etcd/grpc/etcd.grpc.pb.h"
#include "etcd/module.h"

namespace tarcil::etcd {
namespace {

namespace wire = etcdserverpb;

// Above any page that is asked for, and bounded.
constexpr int kMaxAnswerBytes = 64 << 20;

// What a member is given to be connected before another one is asked.
constexpr auto kConnecting = std::chrono::milliseconds(200);

// By so much a member may think that a deadline is over before it is.
constexpr auto kClocksDiffer = std::chrono::milliseconds(50);

// The members' stubs; a member is a connection of its own.
struct Member {
  Member(std::shared_ptr<grpc::Channel> itsChannel)
      : channel(std::move(itsChannel)),
        kv(wire::KV::NewStub(channel)),
        watch(wire::Watch::NewStub(channel)),
        lease(wire::Lease::NewStub(channel)),
        maintenance(wire::Maintenance::NewStub(channel)),
        auth(wire::Auth::NewStub(channel)) {}

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<wire::KV::Stub> kv;
  std::unique_ptr<wire::Watch::Stub> watch;
  std::unique_ptr<wire::Lease::Stub> lease;
  std::unique_ptr<wire::Maintenance::Stub> maintenance;
  std::unique_ptr<wire::Auth::Stub> auth;
};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool isTokenGone(const grpc::Status& status) {
  return contains(status.error_message(), "invalid auth token") ||
         contains(status.error_message(), "revision of auth store is old");
}

Error errorOf(const grpc::Status& status, const std::string& url) {
  const std::string text = "etcd at " + url + ": " + status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::FAILED_PRECONDITION:
      return denied(text);
    case grpc::StatusCode::INVALID_ARGUMENT:
      // How etcd 3.4 says it of users.
      if (contains(text, "authentication failed") || contains(text, "user name is empty"))
        return denied(text);
      return invalid(text);
    case grpc::StatusCode::NOT_FOUND:
      return notFound(text);
    case grpc::StatusCode::OUT_OF_RANGE:
      return {ErrorCode::kConflict, text};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      // The other use: too many requests wait in etcd.
      return {contains(text, "space exceeded") ? ErrorCode::kExhausted : ErrorCode::kUnavailable, text};
    default:
      return {ErrorCode::kUnavailable, text};
  }
}

KeyValue take(wire::KeyValue& from) {
  return {std::move(*from.mutable_key()), std::move(*from.mutable_value()), from.create_revision(),
          from.mod_revision()};
}

std::vector<KeyValue> take(wire::RangeResponse& from) {
  std::vector<KeyValue> records;
  records.reserve(static_cast<size_t>(from.kvs_size()));
  for (wire::KeyValue& record : *from.mutable_kvs()) records.push_back(take(record));
  return records;
}

void put(const Operation& operation, wire::RequestOp& to) {
  switch (operation.what) {
    case Operation::What::kPut:
      to.mutable_request_put()->set_key(operation.key);
      to.mutable_request_put()->set_value(operation.value);
      to.mutable_request_put()->set_lease(operation.lease);
      return;
    case Operation::What::kErase:
      to.mutable_request_delete_range()->set_key(operation.key);
      to.mutable_request_delete_range()->set_range_end(operation.end);
      return;
    case Operation::What::kGet:
      to.mutable_request_range()->set_key(operation.key);
      to.mutable_request_range()->set_range_end(operation.end);
  }
}

class GrpcClient final : public Client {
 public:
  GrpcClient(Access access, const std::shared_ptr<grpc::ChannelCredentials>& credentials)
      : access_(std::move(access)) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2'000);  // what it is given to connect
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
    for (const std::string& url : access_.urls) {
      members_.push_back(std::make_unique<Member>(
          grpc::CreateCustomChannel(url.substr(url.find("://") + 3), credentials, arguments)));
    }
  }

  Result<Outcome> commit(const Transaction& transaction, Duration atMost) override {
    wire::TxnRequest request;
    for (const Compare& compare : transaction.compares) {
      wire::Compare& to = *request.add_compare();
      const bool isCreated = compare.what == Compare::What::kCreated;
      to.set_target(isCreated ? wire::Compare::CREATE : wire::Compare::MOD);
      to.set_key(compare.key);
      isCreated ? to.set_create_revision(compare.revision) : to.set_mod_revision(compare.revision);
    }
    for (const Operation& operation : transaction.then) put(operation, *request.add_success());
    for (const Operation& operation : transaction.otherwise) put(operation, *request.add_failure());
    wire::TxnResponse response;
    const Status asked = ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      return member.kv->Txn(&context, request, &response);
    });
    if (!asked) return asked.error();
    Outcome outcome{response.succeeded(), response.header().revision()};
    for (wire::ResponseOp& of : *response.mutable_responses())
      outcome.found.push_back(take(*of.mutable_response_range()));
    return outcome;
  }

  Result<Found> get(const Range& range, Duration atMost) override {
    wire::RangeRequest request;
    request.set_key(range.key);
    request.set_range_end(range.end);
    request.set_limit(range.limit);
    request.set_revision(range.revision);
    request.set_keys_only(range.keysOnly);
    wire::RangeResponse response;
    const Status asked = ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      return member.kv->Range(&context, request, &response);
    });
    if (!asked) return asked.error();
    // The header's is etcd's now, whatever was asked for.
    return Found{take(response), response.more(),
                 range.revision != 0 ? range.revision : response.header().revision()};
  }

  Result<Lease> grant(Duration life, Duration atMost) override {
    wire::LeaseGrantRequest request;
    request.set_ttl(std::chrono::ceil<std::chrono::seconds>(life).count());
    wire::LeaseGrantResponse response;
    const Status asked = ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      return member.lease->LeaseGrant(&context, request, &response);
    });
    if (!asked) return asked.error();
    return Lease{response.id(), std::chrono::seconds(response.ttl())};
  }

  Result<Lease> renew(int64_t lease, Duration atMost) override {
    wire::LeaseKeepAliveRequest request;
    request.set_id(lease);
    wire::LeaseKeepAliveResponse response;
    const Status asked = ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      const auto stream = member.lease->LeaseKeepAlive(&context);
      const bool isAnswered = stream->Write(request) && stream->WritesDone() && stream->Read(&response);
      if (isAnswered) context.TryCancel();
      const grpc::Status end = stream->Finish();
      return isAnswered ? grpc::Status::OK : end;
    });
    if (!asked) return asked.error();
    return Lease{lease, std::chrono::seconds(response.ttl())};
  }

  Status revoke(int64_t lease, Duration atMost) override {
    wire::LeaseRevokeRequest request;
    request.set_id(lease);
    wire::LeaseRevokeResponse response;
    return ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      return member.lease->LeaseRevoke(&context, request, &response);
    });
  }

  Status watch(const Range& range, Duration atMost,
               const std::function<bool(const std::vector<Event>&, int64_t)>& take) override {
    wire::WatchRequest request;
    request.mutable_create_request()->set_key(range.key);
    request.mutable_create_request()->set_range_end(range.end);
    request.mutable_create_request()->set_start_revision(range.revision);
    return ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      context.AddMetadata("hasleader", "true");  // a member that is cut off from the others ends it
      const auto stream = member.watch->Watch(&context);
      stream->Write(request);
      wire::WatchResponse news;
      bool isCreated = false, isCompacted = false, isEnough = false;
      while (!isEnough && stream->Read(&news)) {
        isCreated |= news.created();
        if (news.canceled()) {
          isCompacted = news.compact_revision() != 0;
          break;
        }
        std::vector<Event> events;
        for (wire::Event& event : *news.mutable_events()) {
          events.push_back({event.type() == wire::Event::DELETE, etcd::take(*event.mutable_kv())});
        }
        isEnough = !events.empty() && !take(events, news.header().revision());
      }
      context.TryCancel();
      grpc::Status end = stream->Finish();
      if (isCompacted)
        return grpc::Status(grpc::StatusCode::OUT_OF_RANGE, "what was to be watched has been compacted");
      if (news.canceled()) return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, news.cancel_reason());
      // etcd knows the deadline, too, and may be the first to say so: as CANCELLED.
      const bool isOver = end.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
                          (end.error_code() == grpc::StatusCode::CANCELLED &&
                           std::chrono::system_clock::now() + kClocksDiffer >= context.deadline());
      return isEnough || (isCreated && isOver) ? grpc::Status::OK : end;
    });
  }

  Status compact(int64_t revision, Duration atMost) override {
    wire::CompactionRequest request;
    request.set_revision(revision);
    wire::CompactionResponse response;
    return ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      return member.kv->Compact(&context, request, &response);
    });
  }

  Result<Size> size(Duration atMost) override {
    wire::StatusResponse response;
    const Status asked = ask(atMost, [&](Member& member, grpc::ClientContext& context) {
      return member.maintenance->Status(&context, {}, &response);
    });
    if (!asked) return asked.error();
    return Size{static_cast<uint64_t>(response.dbsize()), static_cast<uint64_t>(response.dbsizeinuse())};
  }

 private:
  // Once, at the member that answered last; after a failure the next call goes to the next one. Another time
  // where only the token was too old: then nothing has happened.
  template <typename Call>
  Status ask(Duration atMost, Call call) {
    const auto until = std::chrono::system_clock::now() + atMost;
    const size_t at = current_.load() % members_.size();
    // gRPC goes on with a connection only while somebody waits for it (and every 5 s): calls that fail at
    // once because there is none would never get one.
    members_[at]->channel->WaitForConnected(std::min(until, std::chrono::system_clock::now() + kConnecting));
    grpc::Status status;
    for (int attempt = 0; attempt < 2; ++attempt) {
      grpc::ClientContext context;
      context.set_deadline(until);
      context.set_wait_for_ready(members_.size() == 1);
      if (const grpc::Status known = identify(*members_[at], context, until); !known.ok()) {
        status = known;
        break;
      }
      status = call(*members_[at], context);
      if (status.ok()) return {};
      if (!isTokenGone(status)) break;
      const std::lock_guard lock(mutex_);
      token_.clear();
    }
    const Error error = errorOf(reasonOf(*members_[at], status), access_.urls[at]);
    if (error.code == ErrorCode::kUnavailable) {
      size_t expected = at;
      current_.compare_exchange_strong(expected, (at + 1) % members_.size());
    }
    return error;
  }

  // Of a connection that was waited for gRPC says that the time is over. Who does not wait is told what is
  // wrong with it, such as a certificate.
  static grpc::Status reasonOf(Member& member, const grpc::Status& status) {
    const bool isLate = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    if (!isLate || member.channel->GetState(false) != GRPC_CHANNEL_TRANSIENT_FAILURE) return status;
    grpc::ClientContext asking;
    asking.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
    wire::StatusResponse response;
    grpc::Status why = member.maintenance->Status(&asking, {}, &response);
    return why.error_code() == grpc::StatusCode::UNAVAILABLE ? why : status;
  }

  grpc::Status identify(Member& member, grpc::ClientContext& context,
                        std::chrono::system_clock::time_point until) {
    if (access_.user.empty()) return grpc::Status::OK;
    const std::lock_guard lock(mutex_);
    if (token_.empty()) {
      grpc::ClientContext asking;
      asking.set_deadline(until);
      asking.set_wait_for_ready(members_.size() == 1);
      wire::AuthenticateRequest request;
      request.set_name(access_.user);
      request.set_password(access_.password);
      wire::AuthenticateResponse response;
      if (grpc::Status known = member.auth->Authenticate(&asking, request, &response); !known.ok())
        return known;
      token_ = response.token();
    }
    context.AddMetadata("token", token_);
    return grpc::Status::OK;
  }

  const Access access_;
  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<size_t> current_ = 0;
  std::mutex mutex_;
  std::string token_;  // guarded by mutex_; empty: to be asked for
};

Result<std::string> readFile(const char* what, const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty())
    return invalid(path + ": the " + what + " for etcd cannot be read, or is empty");
  return text.str();
}

// Whether all of them are https.
Result<bool> isSafe(const Access& access) {
  if (access.urls.empty())
    return invalid("no URL of etcd is given; write http://host:port or https://host:port");
  size_t safe = 0;
  for (const std::string& url : access.urls) {
    const bool isHttps = url.rfind("https://", 0) == 0;
    const size_t port = url.rfind(':');
    if ((!isHttps && url.rfind("http://", 0) != 0) || port < 7 || port + 1 == url.size() ||
        url.find_first_not_of("0123456789", port + 1) != std::string::npos) {
      return invalid("'" + url + "' is no URL of etcd; write http://host:port or https://host:port");
    }
    safe += isHttps;
  }
  if (safe != 0 && safe != access.urls.size())
    return invalid("some URLs of etcd are http and some https; write all with one of them");
  if (safe == 0 && !(access.authority + access.certificate + access.key).empty()) {
    return invalid("certificates are given for etcd at http; write https://, or leave them out");
  }
  return safe != 0;
}

Result<std::unique_ptr<Client>> make(const Access& access) {
  const auto safe = isSafe(access);
  if (!safe) return safe.error();
  // For good, as the module is loaded for good: without this the last client that goes has gRPC end its
  // threads in a thread of its own, which a process that ends does not wait for.
  [[maybe_unused]] static const bool isStarted = (grpc_init(), true);
  auto credentials = grpc::InsecureChannelCredentials();
  if (*safe) {
    auto authority = readFile("authority's certificate", access.authority);
    auto certificate = readFile("certificate", access.certificate);
    auto key = readFile("key", access.key);
    for (const auto* file : {&authority, &certificate, &key}) {
      if (!*file) return file->error();
    }
    if (certificate->empty() != key->empty())
      return invalid("a certificate for etcd needs its key, and a key its certificate; give both");
    credentials = grpc::SslCredentials({*authority, *key, *certificate});
  }
  return std::unique_ptr<Client>(std::make_unique<GrpcClient>(access, credentials));
}

}  // namespace
}  // namespace tarcil::etcd

extern "C" {
__attribute__((visibility("default"))) extern const char* const kTarcilEtcdModuleVersion;
const char* const kTarcilEtcdModuleVersion = TARCIL_VERSION;
__attribute__((visibility("default"))) extern const tarcil::etcd::MakeClient kTarcilMakeEtcdClient;
const tarcil::etcd::MakeClient kTarcilMakeEtcdClient = tarcil::etcd::make;
}
