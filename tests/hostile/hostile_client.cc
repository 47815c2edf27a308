#include "tests/hostile/hostile_client.h"

#include <capnp/rpc-twoparty.h>
#include <kj/debug.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "core/model/file_pieces.h"
#include "core/model/job_size.h"
#include "rpc/coalescing_stream.h"
#include "rpc/errors.h"
#include "schema/agent.capnp.h"
#include "schema/convert.h"
#include "schema/convert_support.h"
#include "tests/hostile/reluctant_stream.h"

namespace tarcil::hostile {
namespace {

using capnp::rpc::twoparty::Side;
using convert::text;

// Under way on one connection that reads its answers, and on one that does not.
constexpr size_t kCallsAtOnce = 64;
constexpr size_t kCallsUnread = 20'000;
constexpr size_t kUnreadAtOnce = 500;
constexpr auto kPause = 5 * kj::MILLISECONDS;
// Of input files as large as may be.
constexpr uint32_t kMaxPieces = kMaxInputBytes / kMaxPieceBytes;

JobId randomId() {
  static std::mt19937_64 random{std::random_device{}()};
  JobId id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(random());
  return id;
}

JobSpec smallSpec() {
  JobSpec spec;
  spec.name = "hostile";
  spec.command = {"true"};
  spec.hold = true;
  return spec;
}

// As large as may be: names of servers that its tasks prefer.
JobSpec largestSpec() {
  JobSpec spec = smallSpec();
  spec.tasks = 1'000;
  const std::vector<std::string> names(kMaxPreferred, std::string(48, 's'));
  for (uint32_t task = 0; sizeOf(spec) < kMaxSpecBytes - (kMaxPreferred * 80); ++task) {
    spec.placement.preferOfTask[task] = names;
  }
  return spec;
}

// One login at the agent. Calls may be made at once: they are pipelined behind it.
class Line final {
 public:
  Line(kj::Own<kj::AsyncIoStream> stream, const std::string& token)
      : stream_(kj::mv(stream)), network_(*stream_, Side::CLIENT), rpc_(capnp::makeRpcClient(network_)) {
    capnp::MallocMessageBuilder message(8);
    auto vat = message.initRoot<capnp::rpc::twoparty::VatId>();
    vat.setSide(Side::SERVER);
    auto login = rpc_.bootstrap(vat).castAs<wire::AgentGate>().loginRequest();
    login.setToken(text(token));
    client = login.send().getClient();
    user = client.userRequest().send().getPort();
  }

  kj::Promise<void> gone() { return network_.onDisconnect(); }

  wire::ClientPort::Client client = nullptr;
  wire::UserPort::Client user = nullptr;

 private:
  kj::Own<kj::AsyncIoStream> stream_;
  capnp::TwoPartyVatNetwork network_;
  capnp::RpcSystem<capnp::rpc::twoparty::VatId> rpc_;
};

// What one call does over a line. Gives no promise that outlives the line.
using Call = std::function<kj::Promise<void>(Line&)>;

template <typename Request>
kj::Promise<void> send(Request&& request) {
  return request.send().ignoreResult();
}

kj::Promise<void> submit(Line& line, const JobId& id, const JobSpec& spec) {
  auto request = line.client.submitRequest();
  request.setId(bytesOf(id));
  write(spec, request.initSpec());
  return send(request);
}

constexpr const char* kLargePath = "large";

// A piece as large as may be, of one file.
kj::Promise<void> addPieces(wire::Upload::Client upload, uint32_t count) {
  if (count == 0) return kj::READY_NOW;
  auto request = upload.addRequest();
  auto file = request.initFiles(1)[0];
  file.setPath(kLargePath);
  file.setMode(0644);
  file.initContent(static_cast<uint32_t>(kMaxPieceBytes - sizeOf(InputFile{kLargePath, 0, {}})));
  return request.send().then(
      [upload = kj::mv(upload), count](auto&&) mutable { return addPieces(kj::mv(upload), count - 1); });
}

// Pieces of which the first counts with its path, and the others do not.
uint64_t bytesOfPieces(uint32_t count) {
  const uint64_t path = sizeOf(InputFile{kLargePath, 0, {}});
  return path + count * (kMaxPieceBytes - path);
}

kj::Promise<void> submitFiles(Line& line) {
  auto request = line.client.uploadRequest();
  request.setBytes(bytesOfPieces(kMaxPieces));
  return request.send().then([](auto&& begun) {
    wire::Upload::Client upload = begun.getUpload();
    return addPieces(upload, kMaxPieces).then([upload]() mutable {
      auto submit = upload.submitRequest();
      submit.setId(bytesOf(randomId()));
      write(smallSpec(), submit.initSpec());
      return submit.send().ignoreResult();
    });
  });
}

kj::Promise<void> plan(Line& line) {
  auto request = line.client.planRequest();
  JobSpec spec = smallSpec();
  spec.hold = false;
  spec.tasks = 1'000;
  write(spec, request.initSpec());
  return send(request);
}

kj::Promise<void> listJobs(Line& line) {
  auto request = line.user.jobsRequest();
  request.setLimit(1'000);
  request.initFilter().setName("none is called so");
  return send(request);
}

kj::Promise<void> listEverything(Line& line) {
  kj::Vector<kj::Promise<void>> all;
  all.add(listJobs(line));
  all.add(send(line.user.serversRequest()));
  all.add(send(line.user.profilesRequest()));
  all.add(send(line.user.bucketsRequest()));
  all.add(send(line.user.cronsRequest()));
  auto queue = line.user.queueRequest();
  queue.setLimit(1'000);
  all.add(send(queue));
  return kj::joinPromises(all.releaseAsArray());
}

kj::Promise<void> waitFor(Line& line, const JobId& id) {
  auto request = line.user.waitRequest();
  request.setId(bytesOf(id));
  return send(request);
}

// The wait of a job that does not end, with megabytes in fields that the master does not know.
kj::Promise<void> waitAtLength(Line& line, const JobId& id) {
  capnp::MallocMessageBuilder message;
  auto content = message.initRoot<wire::ClientPort::SubmitParams>();
  content.setId(bytesOf(id));
  content.initSpec().setName(text(std::string(2 << 20, 'x')));
  constexpr uint16_t kWait = 3;
  auto request = line.user.typelessRequest(capnp::typeId<wire::UserPort>(), kWait, nullptr);
  request.setAs<wire::ClientPort::SubmitParams>(content.asReader());
  return send(request);
}

// One call after the other, whatever is answered, until the line is lost.
kj::Promise<void> keepCalling(Line& line, const Call& call, Tally& tally) {
  return call(line)
      .then([&tally]() { ++tally.answered; },
            [&tally](kj::Exception&& exception) {
              if (exception.getType() == kj::Exception::Type::DISCONNECTED) {
                kj::throwFatalException(kj::mv(exception));
              }
              ++tally.refused;
            })
      .then([&line, &call, &tally]() { return keepCalling(line, call, tally); });
}

class Misbehaviour final : private kj::TaskSet::ErrorHandler {
 public:
  Misbehaviour(Net net, Target target, Tally& tally)
      : net_(net), target_(std::move(target)), tally_(tally), unanswered_(*this) {}

  // As many of the calls at once on each connection as may be.
  kj::Promise<void> flood(Call call) {
    call_ = std::move(call);
    return onEachConnection(Reading::kAtOnce, [this](Line& line) {
      kj::Vector<kj::Promise<void>> all;
      for (size_t i = 0; i < kCallsAtOnce; ++i) all.add(keepCalling(line, call_, tally_));
      return kj::joinPromises(all.releaseAsArray());
    });
  }

  // The same with a job of each connection's that does not end.
  kj::Promise<void> floodOfAJob(std::function<kj::Promise<void>(Line&, const JobId&)> call) {
    callOfAJob_ = std::move(call);
    return onEachConnection(Reading::kAtOnce, [this](Line& line) {
      const JobId id = randomId();
      return submit(line, id, smallSpec()).then([this, &line, id]() {
        auto calls = kj::heap<Call>([this, id](Line& on) { return callOfAJob_(on, id); });
        kj::Vector<kj::Promise<void>> all;
        for (size_t i = 0; i < kCallsAtOnce; ++i) all.add(keepCalling(line, *calls, tally_));
        return kj::joinPromises(all.releaseAsArray()).attach(kj::mv(calls));
      });
    });
  }

  // Asks for far more than it ever reads.
  kj::Promise<void> neglect(Reading reading) {
    return onEachConnection(reading, [this](Line& line) { return askOn(line, 0); });
  }

  // Each login is the last of its connection.
  kj::Promise<void> comeAndGo() {
    return onEachConnection(Reading::kAtOnce, [this](Line& line) {
      const JobId id = randomId();
      return submit(line, id, smallSpec())
          .then([]() {}, [](kj::Exception&&) {})  // at a bound, for instance
          .then([this, &line, id]() {
            unanswered_.add(waitFor(line, id));
            auto late = line.client.lateBindingRequest();
            return line.user.settingsRequest().send().ignoreResult();
          })
          .then([this]() { ++tally_.answered; });
    });
  }

  // Holds every connection that it gets.
  kj::Promise<void> hold() {
    return onEachConnection(Reading::kAtOnce, [this](Line& line) {
      return line.user.settingsRequest().send().then([this](auto&&) -> kj::Promise<void> {
        ++tally_.answered;
        return kj::NEVER_DONE;
      });
    });
  }

 private:
  using Use = std::function<kj::Promise<void>(Line&)>;

  kj::Promise<void> onEachConnection(Reading reading, Use use) {
    use_ = std::move(use);
    kj::Vector<kj::Promise<void>> all;
    for (size_t i = 0; i < target_.connections; ++i) all.add(connectAgain(reading));
    return kj::joinPromises(all.releaseAsArray());
  }

  kj::Promise<void> connectAgain(Reading reading) {
    return kj::evalNow([this]() { return connectTo(net_.network, net_.io, target_.agent); })
        .then([this, reading](kj::Own<kj::AsyncIoStream>&& stream) {
          ++tally_.connections;
          auto line =
              kj::heap<Line>(kj::heap<ReluctantStream>(kj::mv(stream), net_.timer, reading), target_.token);
          return use_(*line).exclusiveJoin(line->gone()).attach(kj::mv(line));
        })
        .then([]() {}, [this](kj::Exception&&) { ++tally_.lost; })
        .then([this]() { return net_.timer.afterDelay(kPause); })
        .then([this, reading]() { return connectAgain(reading); });
  }

  kj::Promise<void> askOn(Line& line, size_t asked) {
    if (asked >= kCallsUnread) return kj::NEVER_DONE;
    for (size_t i = 0; i < kUnreadAtOnce; ++i) {
      unanswered_.add(send(line.user.serversRequest()));
      unanswered_.add(listJobs(line));
    }
    return net_.timer.afterDelay(kPause).then(
        [this, &line, asked]() { return askOn(line, asked + 2 * kUnreadAtOnce); });
  }

  void taskFailed(kj::Exception&&) override { ++tally_.refused; }

  const Net net_;
  const Target target_;
  Tally& tally_;
  Call call_;
  std::function<kj::Promise<void>(Line&, const JobId&)> callOfAJob_;
  Use use_;
  kj::TaskSet unanswered_;
};

using Begin = kj::Promise<void> (*)(Misbehaviour&);

struct Entry {
  Behaviour behaviour;
  Begin begin;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"large-specs", "submits jobs of the largest specification"},
       [](Misbehaviour& m) {
         return m.flood([spec = largestSpec()](Line& line) { return submit(line, randomId(), spec); });
       }},
      {{"large-files", "submits jobs with the largest input files"},
       [](Misbehaviour& m) { return m.flood(submitFiles); }},
      {{"large-waits", "waits for a job with megabytes in unknown fields"},
       [](Misbehaviour& m) { return m.floodOfAJob(waitAtLength); }},
      {{"never-reads", "asks and never reads the answers"},
       [](Misbehaviour& m) { return m.neglect(Reading::kNever); }},
      {{"slow-reader", "asks and reads a byte a second"},
       [](Misbehaviour& m) { return m.neglect(Reading::kByteBySecond); }},
      {{"connections", "logs in on as many connections as it gets and holds them"},
       [](Misbehaviour& m) { return m.hold(); }},
      {{"reattach", "logs in, waits for a job that does not end, and hangs up"},
       [](Misbehaviour& m) { return m.comeAndGo(); }},
      {{"plan", "asks for plans"}, [](Misbehaviour& m) { return m.flood(plan); }},
      {{"list", "lists jobs, servers, profiles, buckets and the queue"},
       [](Misbehaviour& m) { return m.flood(listEverything); }},
      {{"wait", "waits for a job that does not end"}, [](Misbehaviour& m) { return m.floodOfAJob(waitFor); }},
      {{"submit", "submits small jobs"},
       [](Misbehaviour& m) {
         return m.flood([spec = smallSpec()](Line& line) { return submit(line, randomId(), spec); });
       }},
      {{"cancel", "submits and cancels jobs"},
       [](Misbehaviour& m) {
         return m.flood([spec = smallSpec()](Line& line) {
           const JobId id = randomId();
           return submit(line, id, spec).then([&line, id]() {
             auto cancel = line.user.cancelRequest();
             cancel.setId(bytesOf(id));
             return send(cancel);
           });
         });
       }},
  };
  return all;
}

}  // namespace

const std::vector<Behaviour>& behaviours() {
  static const std::vector<Behaviour> all = [] {
    std::vector<Behaviour> list;
    for (const Entry& entry : entries()) list.push_back(entry.behaviour);
    return list;
  }();
  return all;
}

kj::Promise<void> misbehave(Net net, std::string_view behaviour, const Target& target, Tally& tally) {
  const auto& all = entries();
  const auto found =
      std::ranges::find(all, behaviour, [](const Entry& entry) { return entry.behaviour.name; });
  KJ_REQUIRE(found != all.end(), "no such behaviour");
  auto client = kj::heap<Misbehaviour>(net, target, tally);
  auto running = found->begin(*client);
  return running.attach(kj::mv(client));
}

}  // namespace tarcil::hostile
