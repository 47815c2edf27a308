// The same cycles of claim and release as `commits`, against etcd: a claim is a transaction that compares the
// revision of a server's key and puts the server's new state, the job and its task; a release puts the
// server's and the task's. Every agent watches all servers. etcd judges nothing: the check of quality and of
// neighbours would be the clients'.
//
//   etcd_claims ADDRESS [--agents N] [--outstanding N] [--servers N] [--seconds S]
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/report.h"
#include "core/base/rng.h"
#include "etcd/grpc/etcd.grpc.pb.h"

namespace tarcil::bench {
namespace {

namespace etcd = etcdserverpb;

struct Options {
  std::string address;
  size_t agents = 8, outstanding = 64;
  uint32_t servers = 6'250;
  double seconds = 10;
};

// As large as the records that a master writes for the same.
constexpr size_t kServerBytes = 100, kJobBytes = 500, kTaskBytes = 200;

// What a claim of half of a server's units leaves room for.
constexpr int kClaimsOfAServer = 2;

void require(const grpc::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error_message());
}

std::string serverKey(uint32_t number) {
  return "server/" + std::to_string(number);
}

// The servers as the claimants of this program know them.
class Servers {
 public:
  explicit Servers(uint32_t servers) : servers_(servers) {}

  struct Seen {
    uint32_t server;
    int64_t revision;
  };
  // A server with room for one more claim, which is reserved, and that no other thread has in hand.
  Seen take(Rng& rng) {
    const std::lock_guard lock(mutex_);
    while (true) {
      const auto number = static_cast<uint32_t>(rng.below(servers_.size()));
      Server& server = servers_[number];
      if (server.inHand || server.claims == kClaimsOfAServer) continue;
      server.inHand = true;
      ++server.claims;
      return {number, server.revision};
    }
  }
  // Waits until nobody has it in hand.
  Seen takeAgain(uint32_t number) {
    std::unique_lock lock(mutex_);
    Server& server = servers_[number];
    given_.wait(lock, [&server] { return !server.inHand; });
    server.inHand = true;
    return {number, server.revision};
  }
  void give(uint32_t number, int64_t revision, int claims) {
    const std::lock_guard lock(mutex_);
    Server& server = servers_[number];
    server.inHand = false;
    server.revision = revision;
    server.claims += claims;
    given_.notify_all();
  }

 private:
  struct Server {
    int64_t revision = 0;
    int claims = 0;
    bool inHand = false;
  };

  std::mutex mutex_;
  std::condition_variable given_;
  std::vector<Server> servers_;
};

class Transaction {
 public:
  Transaction& ifUnchanged(const std::string& key, int64_t revision) {
    etcd::Compare& compare = *request_.add_compare();
    compare.set_result(etcd::Compare::EQUAL);
    compare.set_target(etcd::Compare::MOD);
    compare.set_key(key);
    compare.set_mod_revision(revision);
    return *this;
  }
  Transaction& put(const std::string& key, size_t bytes) {
    etcd::PutRequest& put = *request_.add_success()->mutable_request_put();
    put.set_key(key);
    put.set_value(std::string(bytes, 'v'));
    return *this;
  }
  // The revision that it made; throws where something had changed, which nothing here does.
  int64_t run(etcd::KV::Stub& etcd) const {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);  // etcd may be starting
    etcd::TxnResponse response;
    require(etcd.Txn(&context, request_, &response));
    if (!response.succeeded()) throw std::runtime_error("a transaction was refused");
    return response.header().revision();
  }

 private:
  etcd::TxnRequest request_;
};

std::shared_ptr<grpc::Channel> channelTo(const std::string& address, size_t number) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("tarcil.agent", static_cast<int>(number));  // else channels share one connection
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// One agent's view of all servers, read and dropped.
class Watcher {
 public:
  explicit Watcher(const std::shared_ptr<grpc::Channel>& channel) : watch_(etcd::Watch::NewStub(channel)) {
    context_.set_wait_for_ready(true);
    stream_ = watch_->Watch(&context_);
    etcd::WatchRequest request;
    request.mutable_create_request()->set_key("server/");
    request.mutable_create_request()->set_range_end("server0");  // the first key behind them
    stream_->Write(request);
    etcd::WatchResponse created;
    if (!stream_->Read(&created) || !created.created()) throw std::runtime_error("etcd grants no watch");
    thread_ = std::thread([this] {
      etcd::WatchResponse news;
      while (stream_->Read(&news)) changes_ += static_cast<uint64_t>(news.events_size());
    });
  }
  ~Watcher() {
    context_.TryCancel();
    thread_.join();
    stream_->Finish();
  }
  uint64_t changes() const { return changes_; }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<etcd::Watch::Stub> watch_;
  std::unique_ptr<grpc::ClientReaderWriter<etcd::WatchRequest, etcd::WatchResponse>> stream_;
  std::atomic<uint64_t> changes_ = 0;
  std::thread thread_;
};

struct Counts {
  uint64_t cycles = 0;
  std::vector<double> claimMs;
};

Counts cycle(etcd::KV::Stub& etcd, Servers& servers, uint64_t seed, const std::atomic<bool>& stop) {
  Rng rng(seed);
  Counts counts;
  while (!stop) {
    const std::string job = std::to_string(rng()) + std::to_string(rng());
    const Servers::Seen seen = servers.take(rng);
    const std::string key = serverKey(seen.server);
    const auto begin = Steady::now();
    const int64_t claimed = Transaction()
                                .ifUnchanged(key, seen.revision)
                                .put(key, kServerBytes)
                                .put("job/" + job, kJobBytes)
                                .put("task/" + job, kTaskBytes)
                                .run(etcd);
    counts.claimMs.push_back(milliseconds(Steady::now() - begin));
    servers.give(seen.server, claimed, 0);
    const Servers::Seen again = servers.takeAgain(seen.server);
    const int64_t released = Transaction()
                                 .ifUnchanged(key, again.revision)
                                 .put(key, kServerBytes)
                                 .put("task/" + job, kTaskBytes)
                                 .run(etcd);
    servers.give(seen.server, released, -1);
    ++counts.cycles;
  }
  return counts;
}

int run(const Options& options) {
  printConditions();
  std::vector<std::unique_ptr<etcd::KV::Stub>> stubs;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (size_t i = 0; i < options.agents; ++i) {
    const auto channel = channelTo(options.address, i);
    stubs.push_back(etcd::KV::NewStub(channel));
    watchers.push_back(std::make_unique<Watcher>(channel));
  }
  Servers servers(options.servers);
  for (uint32_t i = 0; i < options.servers; ++i) {
    servers.give(i, Transaction().put(serverKey(i), kServerBytes).run(*stubs.front()), 0);
  }
  std::atomic<bool> stop = false;
  std::vector<Counts> counts(options.outstanding);
  std::vector<std::thread> threads;
  const MachineCpu cpu;
  const auto begin = Steady::now();
  for (size_t i = 0; i < options.outstanding; ++i) {
    threads.emplace_back([&, i] { counts[i] = cycle(*stubs[i % stubs.size()], servers, i + 1, stop); });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const double seconds = milliseconds(Steady::now() - begin) / 1e3;
  Counts all;
  for (const Counts& of : counts) {
    all.cycles += of.cycles;
    all.claimMs.insert(all.claimMs.end(), of.claimMs.begin(), of.claimMs.end());
  }
  uint64_t seen = 0;
  for (const auto& watcher : watchers) seen += watcher->changes();
  std::printf("etcd: agents %zu, outstanding %zu, %u servers\n", options.agents, options.outstanding,
              options.servers);
  std::printf("%.0f cycles/s; each agent saw %.0f changes/s; machine %.2f cores busy\n",
              static_cast<double>(all.cycles) / seconds,
              static_cast<double>(seen) / static_cast<double>(options.agents) / seconds,
              cpu.busySeconds() / seconds);
  if (!all.claimMs.empty()) printSpread("claim to its answer", all.claimMs);
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Options options;
  CLI::App app("Loads a running etcd with claims and releases.");
  app.add_option("address", options.address, "Of etcd: host:port.")->required();
  app.add_option("--agents", options.agents, "Connections, each with a watch on all servers.")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--outstanding", options.outstanding, "Cycles under way, over all agents.")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--servers", options.servers, "Servers.")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "How long.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return tarcil::bench::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "etcd_claims: %s\n", error.what());
    return 1;
  }
}
