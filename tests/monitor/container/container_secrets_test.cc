// Secrets as tasks find them: files in memory, whatever the task sees of the server.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "monitor/container/found_program.h"
#include "monitor/container/oci_bundle.h"
#include "tests/monitor/container/container_fixture.h"
#include "tests/monitor/container/root_image.h"

namespace tarcil::container_secrets_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TaskSecret secret(const std::string& name, const std::string& value) {
  return {name, SecretBytes(std::string_view(value))};
}

// Is in no file of the folder, whatever its name.
void expectNowhereIn(const std::string& folder, const std::string& value) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(textOf(entry.path()), Not(HasSubstr(value))) << entry.path();
  }
}

class SecretsTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    ::chmod(folder_.path().c_str(), 0755);
    options_ = optionsIn(folder_.path());
    options_.allowedRoots = {folder_.path() + "/images"};
    options_.crun = findProgram("crun");
  }
  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  LaunchSpec naming(const std::string& text, std::vector<std::string> secrets = {"db"}) {
    LaunchSpec spec = script(++last_, text);
    spec.secrets = std::move(secrets);
    return spec;
  }
  std::string outputOf(const LaunchSpec& spec, const std::vector<TaskSecret>& secrets) {
    const TaskEnd end = containers().run(spec, {}, secrets);
    EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
    return containers().out(spec.allocation) + containers().err(spec.allocation);
  }
  std::string folder() const { return folder_.path(); }

  TemporaryFolder folder_;
  ContainerOptions options_;
  std::optional<Containers> containers_;
  AllocationId last_ = 0;
};

TEST_F(SecretsTest, AreFilesOfTheTasksUserInMemory) {
  const std::string large(65'536, 'x');
  EXPECT_EQ(outputOf(naming("cd $TARCIL_SECRETS; pwd; stat -c '%n %a %u' .; stat -c '%n %a %u %s' db tls; "
                            "stat -f -c %T .; cat db",
                            {"db", "ann/tls"}),
                     {secret("db", "hunter2"), secret("tls", large)}),
            "/run/secrets\n. 500 65534\ndb 400 65534 7\ntls 400 65534 65536\ntmpfs\nhunter2");
}

TEST_F(SecretsTest, AreWhateverBytesTheyAre) {
  std::string value;
  for (int byte = 0; byte < 256; ++byte) value += static_cast<char>(byte);
  EXPECT_EQ(outputOf(naming("cat /run/secrets/db"), {secret("db", value)}), value);
}

TEST_F(SecretsTest, CannotBeChangedAndAreOfTheTaskAlone) {
  LaunchSpec spec = naming(
      "chmod 600 /run/secrets/db; echo x > /run/secrets/new; rm -f /run/secrets/db; cat /run/secrets/db");
  spec.user = "root";
  const std::string out = outputOf(spec, {secret("db", "hunter2")});
  EXPECT_THAT(out, HasSubstr("hunter2"));
  EXPECT_THAT(out, HasSubstr("Read-only file system"));
  LaunchSpec other = script(100, "ls /run/secrets; echo \"$TARCIL_SECRETS\"");
  EXPECT_THAT(outputOf(other, {}), HasSubstr("No such file or directory"));
}

TEST_F(SecretsTest, AreNowhereElse) {
  const LaunchSpec spec = naming(
      "ls /proc/self/fd /proc/1/fd 2>&1; env; cat /run/secrets/db > /dev/null; "
      "echo ready; while ! [ -e go ]; do sleep 0.02; done");
  containers().start(spec, {}, {secret("db", "hunter2hunter2")});
  containers().untilOutput(spec.allocation, "ready");
  EXPECT_THAT(containers().out(spec.allocation), Not(HasSubstr("hunter2")));
  expectNowhereIn(folder(), "hunter2hunter2");
  EXPECT_FALSE(fs::exists("/run/secrets/db")) << "on the server";
  std::ofstream(containers().folder() + "/tasks/" + std::to_string(spec.allocation) + "/work/go") << "";
  EXPECT_EQ(containers().endOf(spec.allocation).exitCode, 0);
  expectNowhereIn(folder(), "hunter2hunter2");
}

TEST_F(SecretsTest, AreThereOnARootFileSystemOfTheTasksOwn) {
  makeRootImage(folder() + "/images/small", {"sh", "cat"});
  LaunchSpec spec = naming("cat $TARCIL_SECRETS/db");
  spec.container.rootfs = folder() + "/images/small";
  EXPECT_EQ(outputOf(spec, {secret("db", "hunter2")}), "hunter2");
}

TEST_F(SecretsTest, AreThereInABundle) {
  if (options_.crun.empty()) GTEST_SKIP() << "no crun";
  makeRootImage(folder() + "/images/bundle/rootfs", {"sh", "tr", "stat", "touch"});
  std::ofstream(folder() + "/images/bundle/config.json")
      << R"({"ociVersion": "1.0.0", "root": {"path": "rootfs"}})";
  // Each letter as the next one: what it writes is in the folder.
  LaunchSpec spec =
      naming("tr a-z b-za < $TARCIL_SECRETS/db; stat -c ' %a %u' /run/secrets/db; touch /run/secrets/x");
  spec.container.bundle = folder() + "/images/bundle";
  const TaskEnd end = containers().run(spec, {}, {secret("db", "hunter2")});
  EXPECT_EQ(containers().out(spec.allocation), "ivoufs2 400 65534\n") << end.problem;
  EXPECT_THAT(containers().err(spec.allocation), HasSubstr("Read-only file system"));
  expectNowhereIn(folder(), "hunter2");
}

TEST_F(SecretsTest, AreThereWithTheViewOfTheHost) {
  options_.hostView = true;
  EXPECT_EQ(outputOf(naming("cat $TARCIL_SECRETS/db"), {secret("db", "hunter2")}), "hunter2");
  EXPECT_FALSE(fs::exists("/run/secrets/db"));
}

TEST_F(SecretsTest, StayWithATaskWhoseMonitorIsFollowedByAnother) {
  const LaunchSpec spec = naming("echo ready; while ! [ -e go ]; do sleep 0.02; done; cat /run/secrets/db");
  containers().start(spec, {}, {secret("db", "hunter2")});
  containers().untilOutput(spec.allocation, "ready");
  containers_.reset();
  ASSERT_EQ(containers().executor().recover().size(), 1u);
  std::ofstream(containers().folder() + "/tasks/" + std::to_string(spec.allocation) + "/work/go") << "";
  EXPECT_EQ(containers().endOf(spec.allocation).exitCode, 0);
  EXPECT_THAT(containers().out(spec.allocation), HasSubstr("hunter2"));
}

}  // namespace tarcil::container_secrets_test
