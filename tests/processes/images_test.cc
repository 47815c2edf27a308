// Jobs in images, from a layout and from a registry on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "monitor/container/found_program.h"
#include "tests/monitor/container/root_image.h"
#include "tests/support/cluster.h"
#include "tests/support/image_layout.h"

namespace tarcil::images_test {

using testing::HasSubstr;

#define SKIP_WITHOUT_IMAGES()                                        \
  SKIP_WITHOUT_CONTAINERS();                                         \
  if (findProgram("skopeo").empty() || findProgram("umoci").empty()) \
  GTEST_SKIP() << "needs skopeo and "                                \
                  "umoci"

class Images : public testing::Test {
 protected:
  // The next image of this layout, whose /etc/marker says so; its digest.
  std::string tag(const std::string& name, const std::string& marker) {
    if (layout_.layers().empty()) {
      makeRootImage(folder_.at("root"), {"sh", "cat", "sleep"});
      layout_.add(printedBy("tar -C " + folder_.at("root") + " -c ."));
    }
    layout_.add(layerOf({{"etc/marker", marker + "\n", 'f', 0644}}));
    layout_.config = {{"Cmd", {"/bin/cat", "/etc/marker"}}};
    return layout_.tag(name);
  }
  const std::string& layout() const { return layout_.folder(); }
  std::string images() const { return folder_.at("images"); }

 private:
  TraceFolder folder_;
  ImageLayout layout_{folder_.at("images/layout")};
};

std::string jobIn(const std::string& image, const std::string& more = "") {
  return "container: {image: \"" + image + "\"}\n" + more;
}

// The path of one of this name; empty: there is none.
std::string fileBelow(const std::string& folder, const std::string& name) {
  std::error_code gone;  // others make and remove files there
  for (std::filesystem::recursive_directory_iterator it(folder, gone), end; it != end; it.increment(gone)) {
    if (it->path().filename() == name) return it->path();
    if (gone) break;
  }
  return "";
}

class Registry {
 public:
  explicit Registry(const std::string& layout)
      : process_({"/usr/bin/python3", std::string(TARCIL_SOURCE_DIR) + "/tests/support/registry.py", layout},
                 {}) {
    if (!process_.waitFor(" \n")) throw std::runtime_error("no registry");
  }
  ~Registry() { process_.signal(SIGKILL); }
  // "127.0.0.1:PORT"
  std::string host() {
    const std::string& said = process_.saidSoFar();
    const size_t from = said.find(' ') + 1;
    return "127.0.0.1:" + said.substr(from, said.find(' ', from) - from);
  }

 private:
  Process process_;
};

TEST_F(Images, OfALayoutAndAnArchiveRunAsTheySay) {
  SKIP_WITHOUT_IMAGES();
  const std::string digest = tag("v1", "first");
  SupervisedCluster cluster({"--rus", "2", "--allow-rootfs", images()});
  const std::string job = cluster.submit(jobIn("oci:" + layout() + ":v1", "tasks: 2\n"));
  const Json ended = cluster.ended(job);
  EXPECT_EQ(ended["state"], "done") << ended;
  EXPECT_EQ(ended["image"]["digest"], digest);
  EXPECT_EQ(cluster.run({"job", "logs", job}).out, "first\n");
  EXPECT_THAT(cluster.run({"job", "status", job}).out, HasSubstr(digest));
  EXPECT_EQ(cluster.json({"job", "explain", job})["image"]["digest"], digest);

  ASSERT_EQ(printedBy("cd " + images() + " && tar -C layout -cf a.tar . && echo made"), "made\n");
  const std::string archive = cluster.submit(jobIn("oci-archive:" + images() + "/a.tar:v1"));
  EXPECT_EQ(cluster.ended(archive)["image"]["digest"], digest);
}

TEST_F(Images, OfARegistryStayTheOnesThatTheJobBeganWith) {
  SKIP_WITHOUT_IMAGES();
  const std::string first = tag("v1", "first");
  Registry registry(layout());
  SupervisedCluster cluster({"--rus", "2", "--insecure-registry", registry.host()});
  const std::string reference = "docker://" + registry.host() + "/a/b:v1";
  // The second task starts when the tag has moved. They see nothing of the server but their own folders.
  const std::string job = cluster.submit(
      jobIn(reference,
            "tasks: 2\nconcurrency: 1\ncommand: [sh, -c, \"if [ $TARCIL_TASK = 0 ]; then : > begun; "
            "while ! [ -e go ]; do sleep 0.02; done; fi; cat /etc/marker\"]\n"));
  std::string begun;
  cluster.until("the first task's image is known", [&cluster, &job, &first, &begun] {
    begun = fileBelow(cluster.data(), "begun");
    return !begun.empty() && cluster.status(job)["image"]["digest"] == first;
  });
  tag("v1", "second");
  std::ofstream(std::filesystem::path(begun).parent_path() / "go") << "\n";
  EXPECT_EQ(cluster.ended(job)["state"], "done");
  EXPECT_THAT(cluster.run({"job", "logs", job, "--all"}).out, testing::Not(HasSubstr("second")));
  const std::string next = cluster.submit(jobIn(reference));
  EXPECT_NE(cluster.ended(next)["image"]["digest"], first) << "a new job gets what the tag names now";
}

// With a process that fetches, and with an image that is there but for its name.
TEST_F(Images, AreThereWholeWhereTheMonitorDiesOverThem) {
  SKIP_WITHOUT_IMAGES();
  tag("v1", "first");
  for (const char* failpoint : {"monitor.image_fetching", "monitor.image_fetched"}) {
    ManualCluster cluster({.servers = 1,
                           .rus = 2,
                           .failing = "server-1",
                           .failpoint = failpoint,
                           .monitorFlags = {"--allow-rootfs", images()}});
    const std::string job = cluster.submit(jobIn("oci:" + layout() + ":v1"));
    const Json ended = cluster.ended(job);
    cluster.waitForFailure();
    EXPECT_EQ(ended["state"], "done") << failpoint << ended;
    EXPECT_EQ(cluster.run({"job", "logs", job}).out, "first\n") << failpoint;
    cluster.expectAllUnitsFree();
  }
}

TEST_F(Images, ThatAreNotThereAreNamed) {
  SKIP_WITHOUT_IMAGES();
  tag("v1", "first");
  Registry registry(layout());
  SupervisedCluster cluster({"--rus", "2", "--insecure-registry", registry.host()});
  const std::string reference = "docker://" + registry.host() + "/a:v2";
  const Json ended = cluster.ended(cluster.submit(jobIn(reference)));
  EXPECT_EQ(ended["state"], "failed");
  EXPECT_THAT(ended["tasks"][0]["problem"].get<std::string>(),
              HasSubstr("image " + reference + ": skopeo: "));
  const ProcessResult refused = cluster.run({"submit", cluster.jobFile(jobIn("debian:12"))});
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("container.image: has none of the beginnings"));
}

}  // namespace tarcil::images_test
