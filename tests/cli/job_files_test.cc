// What is made of files that agents tell of, true or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::job_files_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A job of one task with these files; their contents are their paths.
ClusterScript withFiles(std::vector<ResultFile> files) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0xab), RunState::kDone)};
  script.jobs[0].record.spec.results = {"*"};
  script.files = std::move(files);
  return script;
}

std::string contentIn(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(JobFiles, AreListedAndFetchedByPattern) {
  const ScriptedCluster cluster(withFiles({{"a/first", 7, 04755}, {"b\nfile", 6, 0600}}));
  const ProcessResult listed = tarcil({"job", "files", "ab00"}, cluster);
  EXPECT_EQ(listed.out,
            "Task  Size  Mode  Path\n"
            "0     7B    755   a/first\n"
            "0     6B    600   b?file\n")
      << listed.err;
  const Json files = jsonOf(tarcil({"job", "files", "--json", "ab00"}, cluster))["tasks"][0]["files"];
  EXPECT_EQ(files[1], (Json{{"path", "b\nfile"}, {"bytes", 6}, {"mode", "600"}}));
  const ScratchFolder to;
  EXPECT_EQ(tarcil({"job", "fetch", "ab00", "a/*", "--to", to.path()}, cluster).exitCode, 0);
  EXPECT_EQ(contentIn(to.at("a/first")), "a/first");
  EXPECT_FALSE(fs::exists(to.at("b\nfile")));
  struct stat status {};
  ASSERT_EQ(::stat(to.at("a/first").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07022, 0u) << "no more than 0755";
  EXPECT_EQ(tarcil({"job", "fetch", "ab00", "none", "--to", to.path()}, cluster).exitCode, 1);
}

TEST(JobFiles, PathsThatLeadOutAreNotBelieved) {
  for (const char* path : {"../out", "/tmp/tarcil-lie", "a/../../out", "a//b", ".", ""}) {
    const ScratchFolder to;
    const ScriptedCluster cluster(withFiles({{path, 3, 0644}}));
    const ProcessResult fetched = tarcil({"job", "fetch", "ab00", "--to", to.at("in")}, cluster);
    EXPECT_EQ(fetched.exitCode, 1);
    EXPECT_THAT(fetched.err, HasSubstr("tells of files that it cannot have")) << path;
    EXPECT_TRUE(fs::is_empty(to.path()));
  }
  const ScriptedCluster cluster(withFiles({{"b", 1, 0644}, {"a", 1, 0644}}));
  EXPECT_THAT(tarcil({"job", "files", "ab00"}, cluster).err, HasSubstr("'a' is out of order"));
}

TEST(JobFiles, MoreThanATaskMayKeepIsNotBelieved) {
  const ScriptedCluster cluster(withFiles({{"a", 60 << 20, 0644}, {"b", UINT64_MAX, 0644}}));
  EXPECT_THAT(tarcil({"job", "files", "ab00"}, cluster).err,
              HasSubstr("tells of files that it cannot have: more than 64MiB"));
}

TEST(JobFiles, AFileThatIsShorterThanToldIsNotLeftBehind) {
  const ScratchFolder to;
  const ScriptedCluster cluster(withFiles({{"short", 1 << 20, 0644}}));
  const ProcessResult fetched = tarcil({"job", "fetch", "ab00", "--to", to.path()}, cluster);
  EXPECT_EQ(fetched.exitCode, 1);
  EXPECT_THAT(fetched.err, HasSubstr("is not the 1048576 bytes long that it was"));
  EXPECT_TRUE(fs::is_empty(to.path()));
}

TEST(JobFiles, NoLinkLeadsOutOfTheFolderAndNothingIsReplacedUnasked) {
  const ScriptedCluster cluster(withFiles({{"folder/file", 11, 0644}}));
  const ScratchFolder to;
  to.write("elsewhere/other", "mine");
  fs::create_directories(to.at("in"));
  fs::create_directory_symlink(to.at("elsewhere"), to.at("in/folder"));
  const Words fetch = {"job", "fetch", "ab00", "--to", to.at("in")};
  const Words forced = {"job", "fetch", "ab00", "--force", "--to", to.at("in")};
  EXPECT_THAT(tarcil(forced, cluster).err, HasSubstr("is no folder (links are not followed)"));
  EXPECT_FALSE(fs::exists(to.at("elsewhere/file")));
  fs::remove(to.at("in/folder"));
  fs::create_directories(to.at("in/folder"));
  fs::create_symlink(to.at("elsewhere/other"), to.at("in/folder/file"));
  EXPECT_EQ(tarcil(fetch, cluster).exitCode, 1);
  EXPECT_EQ(tarcil(forced, cluster).exitCode, 0);
  EXPECT_EQ(contentIn(to.at("in/folder/file")), "folder/file");
  EXPECT_EQ(contentIn(to.at("elsewhere/other")), "mine") << "the link is replaced, not what it leads to";
}

}  // namespace tarcil::job_files_test
