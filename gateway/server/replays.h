// What the last day would have been under other settings: the recording that a gateway keeps (`tarcil record
// --last`), and its replay (`tarcil sim --replay`), first as it is and then with what is to be otherwise.
// Both are processes of their own, so that neither holds up what the gateway serves.
#pragma once

#include <kj/async-unix.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "env/clock.h"
#include "formats/json.h"
#include "gateway/server/child_process.h"
#include "rpc/connection.h"

namespace tarcil::gateway {

struct ReplayOptions {
  std::string folder{};                      // of the recording; empty: none is kept
  std::vector<std::string> recorder{};       // arguments of the command that keeps it
  Duration time = std::chrono::minutes(10);  // of a replay, both runs together
  uint64_t memoryBytes = uint64_t{2} << 30;  // of each run
};

// On the event loop.
class Replays final {
 public:
  // `changed` is called with json()["replay"] and who began it whenever that is another. `clock` and `port`
  // outlive it.
  Replays(Net net, kj::UnixEventPort& port, const Clock& clock, ReplayOptions options,
          std::function<void(const Json&, const std::string& user)> changed);
  ~Replays() noexcept(false);
  KJ_DISALLOW_COPY(Replays);

  // Keeps the recorder running until the promise is dropped; done at once where no recording is kept.
  kj::Promise<void> record();

  // Begins a replay; `body` is the settings that are to be otherwise, as docs/http.md has them. Invalid where
  // it cannot be read, Conflict where one runs, or nothing is recorded.
  Status begin(const std::string& user, const std::string& body);
  // Conflict where none runs.
  Status cancel();

  // {"recording", "replay"} of docs/http.md.
  Json json() const;

 private:
  struct Replay {
    std::string user;
    WallTime began{}, ended = kNever;
    Json settings;
    std::vector<std::string> flags;  // of the settings
    std::string state = "running";
    std::string progress, problem;
    std::string lastWords;  // of the run
    std::string whyKilled{};
    Json result = Json::object();
  };

  kj::Promise<void> runBoth();
  kj::Promise<void> run(const char* name, const std::vector<std::string>& flags);
  void take(const char* name, const ChildEnd& end);
  void kill(const std::string& why);
  void conclude(const std::string& state, const std::string& problem);
  Json jsonOf(const Replay& replay) const;
  Json recordingJson() const;
  void tell();

  const Net net_;
  kj::UnixEventPort& port_;
  const Clock& clock_;
  const ReplayOptions options_;
  const std::function<void(const Json&, const std::string&)> changed_;
  const std::string program_;
  std::optional<Replay> replay_;
  kj::Maybe<kj::Own<ChildProcess>> child_;  // of the replay
  kj::Promise<void> running_ = kj::READY_NOW, limit_ = kj::READY_NOW;
};

}  // namespace tarcil::gateway
