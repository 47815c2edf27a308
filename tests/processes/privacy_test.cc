// What users of a cluster, and of its machines, do not see of each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/support/cluster.h"

namespace tarcil::privacy_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string statusOf(pid_t pid, const char* file) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Roles, KeepTheirFilesAndTheirMemoryToThemselves) {
  SKIP_WITHOUT_CONTAINERS();
  ManualCluster cluster({});
  for (const char* role : {"master", "agent-1", "server-1"}) {
    EXPECT_TRUE(
        std::regex_search(statusOf(cluster.pidOf(role), "limits"), std::regex("Max core file size +0 ")))
        << role;
  }
  for (const char* role : {"master", "agent-1"})
    EXPECT_THAT(statusOf(cluster.pidOf(role), "status"), HasSubstr("Umask:\t0077")) << role;
  cluster.ended(cluster.submit(shellJob("echo output; echo file > file")));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(cluster.data() + "/master")) {
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    EXPECT_EQ(info.st_mode & 077u, 0u) << entry.path();
  }
}

// --- Whose the tasks are beside one's own

class OthersTasks : public testing::Test {
 protected:
  explicit OthersTasks(std::vector<std::string> masterFlags = {})
      : cluster_({.emulate = emulatedServer(folder_), .masterFlags = std::move(masterFlags)}) {}

  std::string tokenOf(const std::string& user) {
    cluster_.json({"user", "add", user});
    const std::string file = folder_.at(user + ".token");
    EXPECT_EQ(cluster_.run({"token", "add", "--user", user, "--write", file}).exitCode, 0);
    return file;
  }
  // What a user sees of the one task that runs, on the server where it does.
  Json taskSeenWith(const std::string& token) {
    for (const Json& server : cluster_.json({"server", "list"})) {
      const Json tasks = cluster_.json({"server", "show", server["name"], "--token-file", token})["tasks"];
      if (!tasks.empty()) return tasks[0];
    }
    return {};
  }

  const TraceFolder folder_;
  ManualCluster cluster_;
};

class HiddenOthersTasks : public OthersTasks {
 protected:
  HiddenOthersTasks() : OthersTasks({"--hide-others"}) {}
};

constexpr const char* kLongJob = "command: [sleep, \"600\"]\nname: payroll\n";

TEST_F(OthersTasks, AreShownUnlessTheOperatorSaysOtherwise) {
  const std::string ann = tokenOf("ann"), bob = tokenOf("bob");
  const Json job = cluster_.json({"submit", "--token-file", ann, cluster_.jobFile(kLongJob)});
  cluster_.until("it runs", [&]() { return !taskSeenWith(bob).empty(); });
  EXPECT_EQ(taskSeenWith(bob)["job"], job["job"]);
}

TEST_F(HiddenOthersTasks, AreUnitsAndPressuresOfNobodyInParticular) {
  const std::string ann = tokenOf("ann"), bob = tokenOf("bob");
  const Json job = cluster_.json({"submit", "--token-file", ann, cluster_.jobFile(kLongJob)});
  cluster_.until("it runs", [&]() { return !taskSeenWith(bob).empty(); });
  const Json seen = taskSeenWith(bob);
  EXPECT_TRUE(seen["job"].is_null());
  EXPECT_TRUE(seen["number"].is_null());
  EXPECT_EQ(seen["rus"].size(), 1u);
  EXPECT_EQ(taskSeenWith(ann)["job"], job["job"]) << "it is hers";
  for (const Json& server : cluster_.json({"server", "list"})) {
    const std::string shown = cluster_.run({"server", "show", server["name"], "--token-file", bob}).out;
    EXPECT_THAT(shown, Not(HasSubstr(job["job"].get<std::string>().substr(0, 8))));
  }
  const Json plan = cluster_.json({"plan", "--token-file", bob, cluster_.jobFile(kLongJob)});
  EXPECT_THAT(plan.dump(), Not(HasSubstr(job["job"].get<std::string>())));
  const std::string operators = cluster_.data() + "/tokens/operate.token";
  EXPECT_EQ(taskSeenWith(operators)["job"], job["job"]) << "operators see all";
}

}  // namespace tarcil::privacy_test
