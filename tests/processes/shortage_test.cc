// Roles that have too few descriptors or too little memory, and tasks that take all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/cluster.h"

namespace tarcil::shortage_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::string contentOf(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// --- Descriptors ------------------------------------------------------------------------------------------

// Peers that connect and say nothing.
class Crowd final {
 public:
  Crowd(const std::string& socket, int count) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.copy(address.sun_path, sizeof address.sun_path - 1);
    for (int i = 0; i < count; ++i) {
      fds_.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      // Waits where the queue of the socket is full.
      EXPECT_EQ(::connect(fds_.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
  }
  ~Crowd() {
    for (const int fd : fds_) ::close(fd);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::vector<int> fds_;
};

class FewDescriptors : public testing::TestWithParam<const char*> {};

TEST_P(FewDescriptors, AreSaidAndTheRoleServesOnWhenSomeAreFree) {
  SKIP_WITHOUT_CONTAINERS();
  const std::string role = GetParam();
  ManualCluster cluster({.rus = 2, .shellOf = {{role, "ulimit -n 256"}}});
  const TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(
      shellJob(traces.note("started") + traces.waitForGate() + traces.note("ended"), "tasks: 2\n"));
  ASSERT_TRUE(traces.waitForLines("started", 2));
  {
    const Crowd crowd(cluster.data() + "/run/" + role + ".sock", 300);
    cluster.until("it says why peers are turned away",
                  [&]() { return cluster.logOf(role).find("ulimit -n") != std::string::npos; });
    traces.openGate();
    ASSERT_TRUE(traces.waitForLines("ended", 2));
  }
  EXPECT_EQ(cluster.ended(running)["state"], "done");
  const std::string later = cluster.submit(shellJob(traces.note("later"), "tasks: 4\nconcurrency: 2\n"));
  EXPECT_EQ(cluster.ended(later)["state"], "done");
  EXPECT_THAT(traces.lines("later"), UnorderedElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(traces.lines("started"), SizeIs(2));
  cluster.expectAllUnitsFree();
}

INSTANTIATE_TEST_SUITE_P(Roles, FewDescriptors, testing::Values("master", "agent-1", "server-1"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace tarcil::shortage_test
