// A user with a token who means harm, beside one who does not: the roles serve the one, bound the other, and
// forget what was done to them.
#include "tests/hostile/hostile_client.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <string>

#include "rpc/token.h"
#include "tests/support/cluster.h"

namespace tarcil::hostile {

// For GoogleTest, which would print bytes.
// NOLINTNEXTLINE(readability-identifier-naming): its name there
void PrintTo(const Behaviour& behaviour, std::ostream* out) {
  *out << behaviour.name;
}

}  // namespace tarcil::hostile

namespace tarcil::hostile::hostile_client_test {

namespace fs = std::filesystem;

const std::string kToken(64, 'f');
constexpr int kJobs = 10;  // of the honest user, beside each behaviour
// Of each role: far above what they take when nobody misbehaves, and far below what a client would make them
// take who is not bounded.
constexpr size_t kMaxMebibytes = 1'200;

std::string serversIn(const TraceFolder& folder) {
  folder.write("servers.yaml", "servers: [{name: s, rus: 4}]\n");
  return folder.at("servers.yaml");
}

// The store opens files besides, more of them where there is more in it.
size_t socketsOf(pid_t pid) {
  size_t count = 0;
  for (const auto& each : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    std::error_code gone;
    if (fs::read_symlink(each.path(), gone).string().starts_with("socket:")) ++count;
  }
  return count;
}

// The most that it has had so far.
size_t mebibytesOf(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    size_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes >> 10;
  }
  return 0;
}

class BesideAHostileClient : public testing::TestWithParam<Behaviour> {
 protected:
  TraceFolder folder_;
  ManualCluster cluster_{{.emulate = serversIn(folder_),
                          .masterFlags = {"--max-jobs-size-of-user", "64MiB", "--max-jobs-of-user", "2000"},
                          .moreTokens = kToken + " mallory submit nobody\n"}};
  const std::vector<std::string> roles_ = {"master", "agent-1"};
};

TEST_P(BesideAHostileClient, OthersAreServedAndNothingIsLeftBehind) {
  const std::string token = cluster_.data() + "/mallory.token";
  ASSERT_TRUE(writeTokenFile(token, kToken));
  const std::string mine = cluster_.submit("command: ['true']\n");
  EXPECT_EQ(cluster_.ended(mine)["state"], "done");
  std::map<std::string, size_t> before;
  for (const std::string& role : roles_) before[role] = socketsOf(cluster_.pid(role));

  Process hostile({TARCIL_HOSTILE_CLIENT, "--behaviour", std::string(GetParam().name), "--agent",
                   "unix:" + cluster_.data() + "/run/agent-1.sock", "--token-file", token, "--connections",
                   GetParam().name == "connections" ? "1000" : "8", "--seconds", "600"},
                  {});
  for (int i = 0; i < kJobs; ++i) {
    EXPECT_EQ(cluster_.ended(cluster_.submit("command: ['true']\n"))["state"], "done");
    EXPECT_GE(cluster_.json({"job", "list"}).size(), 1u);
  }
  for (const std::string& role : roles_) {
    EXPECT_LE(mebibytesOf(cluster_.pid(role)), kMaxMebibytes) << role;
  }
  hostile.signal(SIGKILL);
  hostile.finish();
  cluster_.until("connections are let go", [&]() {
    return std::ranges::all_of(roles_, [&](const std::string& role) {
      return socketsOf(cluster_.pid(role)) <= before.at(role) + 2;
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Each, BesideAHostileClient, testing::ValuesIn(behaviours()), [](const auto& each) {
  std::string name(each.param.name);
  std::erase(name, '-');
  return name;
});

}  // namespace tarcil::hostile::hostile_client_test
