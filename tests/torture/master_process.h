// A real master on a store of its own, killed and started again.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace tarcil::torture {

// Tokens that the master takes, one for each role that the torture plays.
inline constexpr char kAgentToken[] = "the-agents-token-in-a-torture-run";
inline constexpr char kMonitorToken[] = "the-monitors-token-in-a-torture-run";
inline constexpr char kOperatorToken[] = "the-operators-token-in-a-torture-run";
// Of the users whose jobs there are (work.h).
inline constexpr std::array<const char*, 2> kUserTokens = {"the-token-of-ada-in-a-torture-run",
                                                           "the-token-of-bob-in-a-torture-run"};

class MasterProcess final {
 public:
  // `program` is tarcil; `folder` is made if it is not there, and holds `store`, `log` and the socket.
  MasterProcess(std::string program, std::string folder, std::vector<std::string> moreFlags);
  ~MasterProcess();
  MasterProcess(const MasterProcess&) = delete;
  MasterProcess& operator=(const MasterProcess&) = delete;

  // Returns at once: it may be killed while it starts. It kills itself where it gets to the failpoint
  // (env/failpoint.h); empty: to none.
  void start(const std::string& failpoint = "");
  // SIGKILL, unless the failpoint has done it; returns when it is gone. Throws where it had ended in another
  // way, which a master never does.
  void kill();
  // It runs no more.
  bool isDead();

  std::string address() const { return "unix:" + folder_ + "/master.sock"; }
  std::string store() const { return folder_ + "/store"; }

 private:
  const std::string program_, folder_;
  const std::vector<std::string> moreFlags_;
  // Takes note of its end, where it has ended.
  void look(int options);

  pid_t pid_ = -1;  // while it has not been seen to have ended
  int status_ = 0;  // how it ended
  bool mayDieByItself_ = false;
};

}  // namespace tarcil::torture
