// What every role's process has in common: an event loop, a log, a way to be told to stop.
#pragma once

#include <kj/async-io.h>
#include <kj/async-unix.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"
#include "core/base/rng.h"
#include "metrics/metrics_port.h"
#include "rpc/connection.h"
#include "rpc/quiet_sockets.h"
#include "rpc/security.h"

namespace tarcil {

// From the most that is logged to the least, as spdlog calls them.
inline constexpr std::array<std::string_view, 4> kLogLevels = {"debug", "info", "warning", "error"};

struct RoleFlags {
  int readyFd = -1;               // where to write a line once the role serves; -1: nowhere
  bool supervised = false;        // stop when the parent process ends
  std::string metrics;            // address where metrics are served; empty: nowhere
  std::string logLevel = "info";  // one of kLogLevels: the least that is logged
  bool insecure = false;  // may be reached, and reach others, where what is sent can be read on the way
};

// Bad input, naming the flag, where it is no address for this use.
void requireAddress(const std::string& flag, const std::string& address, AddressUse use);

// Where others reach a role that listens at `listen`, an address as a Listener has it: there, or at
// `advertise` where that is not empty; its port 0 stands for that of `listen`. Bad input where that is no
// address, or one of those that stand for all of a machine's own (0.0.0.0, [::], *), which nobody else can
// dial.
std::string addressToDial(const std::string& listen, const std::string& advertise);

// The same file or folder, whatever folder a process is in later: shims, for one, are in `/`. Empty stays
// empty. Bad input where it is relative and this process is in no folder.
std::string absolutePath(const std::string& path);

// One per process, made before any thread. Flags that say something wrong are bad input.
class RoleProcess final {
 public:
  // `name` stands in every line of the log (on stderr).
  RoleProcess(const std::string& name, const RoleFlags& flags, std::optional<Credentials> credentials = {});

  Net net();
  Security& security() { return security_; }
  kj::UnixEventPort& eventPort() { return io_.unixEventPort; }

  // Where the role can be reached from now on; the log says so, with the port that was chosen. Bad input
  // where it cannot listen there, or others could read what is sent there.
  Listener listen(const std::string& address);
  // At another address besides that.
  Listener listenToo(const std::string& flag, const std::string& address);

  // Bad input, naming the flag, where others could read what is sent to this address.
  void requireSafe(const std::string& flag, const std::string& address) const;
  // Lets the process have as many descriptors as the machine allows it. Not for one that starts tasks, which
  // would inherit that.
  void allowManyPeers();

  // What it writes from now on is for its own user, whatever folder it is in. Not for one that starts tasks,
  // which find files of its making.
  void keepFilesPrivate();

  // Serves what `text` gives where the flags say, if they do. Bad input as for listen().
  void serveMetrics(MetricsText text);

  // The role serves: tells whoever started it.
  void ready();

  // From a continuation: ends run() with this exit code; the first one counts. Says why on stderr.
  void fail(int exitCode, const std::string& why);

  // Ends the process here and now with this exit code, without taking anything down: where nothing that is
  // under way may go on. Says why on stderr.
  [[noreturn]] void die(int exitCode, const std::string& why);

  // What waitFor() and run() do at SIGHUP, which says so in the log; without it only the log has a line. To
  // be given before them.
  void onHangup(std::function<void()> act) { hangup_ = std::move(act); }
  // What it does before that, where the role has an identity.
  void onReread(std::function<void()> act) { reread_ = std::move(act); }

  // Runs the loop until `awaited` resolves; false where SIGTERM or SIGINT comes before that. For who waits
  // before it serves.
  bool waitFor(kj::Promise<void> awaited);

  // Runs the loop until `serving` fails, fail() is called, or SIGTERM or SIGINT comes (exit code 0).
  int run(kj::Promise<void> serving);

  kj::WaitScope& waitScope() { return io_.waitScope; }

  // Seeded by the operating system.
  Rng rng();

 private:
  Listener listenFor(const std::string& flag, const std::string& address);
  kj::Promise<int> untilSignalled();
  kj::Promise<void> heedHangups();
  // Logs when the event loop was held up for long, and by what.
  kj::Promise<void> watchSteps(Duration told);

  const std::string name_;
  RoleFlags flags_;
  kj::AsyncIoContext io_;
  QuietSockets sockets_{*io_.lowLevelProvider, io_.unixEventPort};
  Security security_;
  kj::PromiseFulfillerPair<int> failed_;
  kj::Promise<void> metrics_ = nullptr;
  std::function<void()> hangup_;
  std::function<void()> reread_;
};

}  // namespace tarcil
