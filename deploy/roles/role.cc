#include "deploy/roles/role.h"

#include <kj/debug.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/failure.h"
#include "core/base/units.h"
#include "core/base/version.h"
#include "env/clock.h"
#include "env/linux/loop_watch.h"
#include "env/loop_step.h"
#include "env/messages.h"
#include "env/oom_score.h"
#include "env/stop.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// However much there is to do, what comes in is looked at after so many events.
constexpr kj::uint kEventsBetweenPolls = 20;

// A step of so much processor time is logged, and how often it is looked whether there was one.
constexpr Duration kLongStep = std::chrono::milliseconds(100);
constexpr auto kLookForLongSteps = 1 * kj::SECONDS;

kj::AsyncIoContext makeLoop() {
  kj::UnixEventPort::captureSignal(SIGTERM);
  kj::UnixEventPort::captureSignal(SIGINT);
  kj::UnixEventPort::captureSignal(SIGHUP);
  // A peer that goes away shows as a failed write.
  ::signal(SIGPIPE, SIG_IGN);
  auto io = kj::setupAsyncIo();
  io.waitScope.setBusyPollInterval(kEventsBetweenPolls);
  return io;
}

// It would have tokens and secrets. Tasks have a limit of their own.
void leaveNoDump() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
}

// Metrics are told in clear and to whoever asks.
void requireMetricsAddress(const RoleFlags& flags) {
  requireAddress("--metrics", flags.metrics, AddressUse::kListen);
  if (flags.insecure || staysOnThisMachine(flags.metrics)) return;
  throw badInput(
      "--metrics: " + flags.metrics +
      " is open to other machines, and whoever reaches it may read who runs what; listen at 127.0.0.1:PORT "
      "behind a server that asks who it is, or add --insecure on a network that you trust");
}

}  // namespace

void requireAddress(const std::string& flag, const std::string& address, AddressUse use) {
  if (const Status good = checkAddress(address, use); !good)
    throw badInput(flag + ": " + good.error().message);
}

std::string addressToDial(const std::string& listen, const std::string& advertise) {
  const auto isOfAll = [](const std::string& address) {
    return std::ranges::any_of(std::array{"0.0.0.0:", "[::]:", "*:"},
                               [&](const char* all) { return address.starts_with(all); });
  };
  if (advertise.empty()) {
    if (!isOfAll(listen)) return listen;
    throw badInput(
        "--listen: " + listen +
        " stands for all addresses of this machine, and nobody else can dial that; say with --advertise "
        "HOST:PORT what others are to dial");
  }
  requireAddress("--advertise", advertise, AddressUse::kListen);
  if (isOfAll(advertise)) {
    throw badInput("--advertise: " + advertise +
                   " stands for all addresses of a machine; write the one that others "
                   "are to dial");
  }
  if (!advertise.ends_with(":0") || advertise.starts_with("unix:") || listen.starts_with("unix:")) {
    return advertise;
  }
  return advertise.substr(0, advertise.rfind(':')) + listen.substr(listen.rfind(':'));
}

std::string absolutePath(const std::string& path) {
  if (path.empty()) return path;
  std::error_code problem;
  const auto absolute = std::filesystem::absolute(path, problem);
  if (!problem) return absolute.lexically_normal();
  throw badInput(path + ": the folder that this command was started in cannot be found: " +
                 problem.message() + "; write a path that begins with /");
}

RoleProcess::RoleProcess(const std::string& name, const RoleFlags& flags,
                         std::optional<Credentials> credentials)
    : name_(name),
      flags_(flags),
      io_(makeLoop()),
      security_(systemClock(), {std::move(credentials), flags.insecure}),
      failed_(kj::newPromiseAndFulfiller<int>()) {
  stopWithoutMemory(name_);
  protectFromOomKiller();
  leaveNoDump();
  if (!flags_.metrics.empty()) requireMetricsAddress(flags_);
  if (flags_.supervised) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // The parent may have ended before it could be noticed.
    if (::getppid() == 1) ::raise(SIGTERM);
  }
  auto logger = spdlog::stderr_logger_st(name_);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%f %n %l %v");
  logger->flush_on(spdlog::level::debug);
  logger->set_level(spdlog::level::from_str(flags_.logLevel));
  spdlog::set_default_logger(logger);
}

Net RoleProcess::net() {
  return {io_.provider->getNetwork(), sockets_, io_.provider->getTimer(), &security_};
}

Listener RoleProcess::listen(const std::string& address) {
  requireSafe("--listen", address);
  Listener listener = listenFor("--listen", address);
  spdlog::info("tarcil {}, role {}", version(), name_);
  if (security_.identity()) spdlog::info("speaks TLS as {}", described(*security_.identity()));
  spdlog::info("listens at {}", listener.address);
  return listener;
}

Listener RoleProcess::listenToo(const std::string& flag, const std::string& address) {
  requireSafe(flag, address);
  Listener listener = listenFor(flag, address);
  spdlog::info("listens at {} ({})", listener.address, flag);
  return listener;
}

void RoleProcess::requireSafe(const std::string& flag, const std::string& address) const {
  if (const Status may = security_.mayUse(address); !may) throw badInput(flag + ": " + may.error().message);
}

Listener RoleProcess::listenFor(const std::string& flag, const std::string& address) {
  try {
    const Net net = this->net();
    return listenAt(net.network, net.io, address).wait(io_.waitScope);
  } catch (const kj::Exception& exception) {
    throw badInput(flag + ": " + fromException(exception).message);
  }
}

void RoleProcess::allowManyPeers() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Where it may not, it has fewer.
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void RoleProcess::keepFilesPrivate() {
  ::umask(077);
}

void RoleProcess::serveMetrics(MetricsText text) {
  if (flags_.metrics.empty()) return;
  Listener listener = listenFor("--metrics", flags_.metrics);
  spdlog::info("serves metrics at {}", listener.address);
  metrics_ = tarcil::serveMetrics(kj::mv(listener.receiver), net().timer, kj::mv(text))
                 .eagerlyEvaluate([](kj::Exception&& exception) { KJ_LOG(ERROR, "no metrics", exception); });
}

void RoleProcess::ready() {
  spdlog::info("ready");
  if (flags_.readyFd < 0) return;
  // Whoever started the role may be gone: then nobody waits.
  [[maybe_unused]] const ssize_t written = ::write(flags_.readyFd, "ready\n", 6);
  ::close(flags_.readyFd);
  flags_.readyFd = -1;
}

void RoleProcess::fail(int exitCode, const std::string& why) {
  say(name_ + ": " + why);
  failed_.fulfiller->fulfill(kj::mv(exitCode));
}

void RoleProcess::die(int exitCode, const std::string& why) {
  say(name_ + ": " + why);
  ::_exit(exitCode);
}

bool RoleProcess::waitFor(kj::Promise<void> awaited) {
  const auto hangups = heedHangups().eagerlyEvaluate(stopsIfFailed("what SIGHUP asks for"));
  return awaited.then([]() { return true; })
      .exclusiveJoin(untilSignalled().then([](int) { return false; }))
      .wait(io_.waitScope);
}

int RoleProcess::run(kj::Promise<void> serving) {
  const LoopWatch watch(io_.provider->getTimer(), name_);
  const auto hangups = heedHangups().eagerlyEvaluate(stopsIfFailed("what SIGHUP asks for"));
  auto served = serving.then([]() { return int{kExitDone}; },
                             [this](kj::Exception&& exception) {
                               say(name_ + ": " + fromException(exception).message);
                               return int{kExitFailed};
                             });
  auto watching = watchSteps(kLongStep).then([]() { return int{kExitDone}; });
  return served.exclusiveJoin(kj::mv(failed_.promise))
      .exclusiveJoin(untilSignalled())
      .exclusiveJoin(kj::mv(watching))
      .wait(io_.waitScope);
}

kj::Promise<void> RoleProcess::watchSteps(Duration told) {
  return net().timer.afterDelay(kLookForLongSteps).then([this, told]() {
    const LongestStep longest = longestStep();
    if (longest.took <= told) return watchSteps(told);
    spdlog::warn("nobody was served for {} of processor time: {}", formatDuration(longest.took),
                 longest.what);
    return watchSteps(longest.took);
  });
}

kj::Promise<int> RoleProcess::untilSignalled() {
  return io_.unixEventPort.onSignal(SIGTERM)
      .exclusiveJoin(io_.unixEventPort.onSignal(SIGINT))
      .then([](siginfo_t&&) {
        spdlog::info("stopping");
        return int{kExitDone};
      });
}

kj::Promise<void> RoleProcess::heedHangups() {
  return io_.unixEventPort.onSignal(SIGHUP).then([this](siginfo_t&&) {
    if (reread_) reread_();
    if (hangup_) {
      hangup_();
    } else if (!reread_) {
      spdlog::info("SIGHUP: there is nothing that this role reads again");
    }
    return heedHangups();
  });
}

Rng RoleProcess::rng() {
  uint64_t seed = 0;
  KJ_ASSERT(::getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return Rng(seed);
}

}  // namespace tarcil
