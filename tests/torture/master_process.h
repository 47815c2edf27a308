// A real master on a store of its own, killed and started again.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tarcil::torture {

// Tokens that the master takes, one for each role that the torture plays.
inline constexpr char kAgentToken[] = "the-agents-token-in-a-torture-run";
inline constexpr char kMonitorToken[] = "the-monitors-token-in-a-torture-run";
inline constexpr char kOperatorToken[] = "the-operators-token-in-a-torture-run";

class MasterProcess final {
 public:
  // `program` is tarcil; `folder` is made if it is not there, and holds `store`, `log` and the socket.
  MasterProcess(std::string program, std::string folder, std::vector<std::string> moreFlags);
  ~MasterProcess();
  MasterProcess(const MasterProcess&) = delete;
  MasterProcess& operator=(const MasterProcess&) = delete;

  // Returns at once: it may be killed while it starts.
  void start();
  // SIGKILL; returns when it is gone. Throws where it had ended by itself, which a master never does.
  void kill();

  std::string address() const { return "unix:" + folder_ + "/master.sock"; }
  std::string store() const { return folder_ + "/store"; }

 private:
  const std::string program_, folder_;
  const std::vector<std::string> moreFlags_;
  pid_t pid_ = -1;
};

}  // namespace tarcil::torture
