#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "formats/job_file.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::formats_input_files_test {

namespace fs = std::filesystem;

// Reads a job with these `files` from the folder.
Result<JobFile> readWith(const ScratchFolder& folder, const std::string& files,
                         const JobFileOptions& options = {}) {
  return parseJob("command: [x]\nfiles: " + files, "job.yaml", folder.path().string(), options);
}

std::string problemOf(const ScratchFolder& folder, const std::string& files,
                      const JobFileOptions& options = {}) {
  auto job = readWith(folder, files, options);
  return job.ok() ? "" : job.error().message;
}

std::vector<std::string> pathsOf(const Result<JobFile>& job) {
  std::vector<std::string> paths;
  EXPECT_TRUE(job.ok()) << (job.ok() ? "" : job.error().message);
  if (!job.ok()) return paths;
  for (const InputFile& file : job->files) paths.push_back(file.path);
  return paths;
}

TEST(InputFiles, ShipsFilesAndFoldersSortedAndOnce) {
  ScratchFolder folder;
  folder.write("train.py", "print(1)");
  folder.write("data/b/2", "two");
  folder.write("data/a", std::string("on\0e", 4));
  folder.write("other", "");
  auto job = readWith(folder, "[train.py, data/, ./data/b/2, data/../train.py]");
  ASSERT_TRUE(job.ok()) << job.error().message;
  const std::vector<InputFile> expected = {
      {"data/a", 0644, std::string("on\0e", 4)}, {"data/b/2", 0644, "two"}, {"train.py", 0644, "print(1)"}};
  EXPECT_EQ(job->files, expected);
  EXPECT_EQ(pathsOf(readWith(folder, "[.]")),
            (std::vector<std::string>{"data/a", "data/b/2", "other", "train.py"}));
  EXPECT_EQ(pathsOf(readWith(folder, "[]")), std::vector<std::string>{});
}

TEST(InputFiles, KeepsTheExecutableBit) {
  ScratchFolder folder;
  folder.write("run.sh", "#!/bin/sh\n");
  fs::permissions(folder.at("run.sh"), fs::perms::owner_all);
  auto job = readWith(folder, "[run.sh]");
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->files[0].mode, 0755u);
}

TEST(InputFiles, FollowsLinksThatStayInside) {
  ScratchFolder folder;
  folder.write("real/a", "x");
  fs::create_symlink("real/a", folder.at("link"));
  fs::create_symlink("real", folder.at("dir"));
  EXPECT_EQ(pathsOf(readWith(folder, "[link, dir]")), (std::vector<std::string>{"dir/a", "link"}));
}

TEST(InputFiles, RefusesWhatLeavesTheFolder) {
  ScratchFolder folder;
  folder.write("data/a", "x");
  fs::create_symlink("/etc/passwd", folder.at("data/secret"));
  const std::string inside = "; write a relative path that stays inside the folder";
  EXPECT_EQ(problemOf(folder, "[/etc/passwd]"), "job.yaml:2:9: files[0]: is '/etc/passwd'" + inside);
  EXPECT_EQ(problemOf(folder, "[../x]"), "job.yaml:2:9: files[0]: is '../x'" + inside);
  EXPECT_EQ(problemOf(folder, "[data/../../x]"), "job.yaml:2:9: files[0]: is 'data/../../x'" + inside);
  EXPECT_EQ(problemOf(folder, "['']"), "job.yaml:2:9: files[0]: is ''" + inside);
  EXPECT_EQ(problemOf(folder, "[data]"),
            "job.yaml:2:9: files[0]: 'data/secret' leads outside the folder that paths are relative to; copy "
            "it there");
}

TEST(InputFiles, RefusesLoopsAndWhatIsNoFile) {
  ScratchFolder folder;
  folder.write("loop/a", "x");
  fs::create_directory_symlink("..", folder.at("loop/up"));
  fs::create_symlink("self", folder.at("self"));
  ASSERT_EQ(::mkfifo(folder.at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(problemOf(folder, "[none, pipe]"),
            "job.yaml:2:9: files[0]: 'none' cannot be found: No such file or directory; check the path\n"
            "job.yaml:2:15: files[1]: 'pipe' is neither a file nor a folder; name the files one by one");
  EXPECT_EQ(problemOf(folder, "[self]"),
            "job.yaml:2:9: files[0]: 'self' cannot be found: Too many levels of symbolic "
            "links; check the path");
  fs::remove(folder.at("pipe"));
  fs::remove(folder.at("self"));
  EXPECT_THAT(problemOf(folder, "[loop]"),
              testing::HasSubstr("is a symbolic link to a folder above it; remove the link"));
}

TEST(InputFiles, RefusesNamesThatAreNotText) {
  ScratchFolder folder;
  folder.write("data/a\nb", "x");
  EXPECT_EQ(problemOf(folder, "[data]"),
            "job.yaml:2:9: files[0]: a file has the name 'data/a\\x0ab'; use printable UTF-8 names");
}

TEST(InputFiles, NamesTheLargestWhereAllAreTooMuch) {
  ScratchFolder folder;
  folder.write("small", "1234");
  folder.write("data/large", "123456");
  JobFileOptions options;
  options.maxInputBytes = 10;
  EXPECT_EQ(problemOf(folder, "[small, data]", options), "");
  options.maxInputBytes = 9;
  EXPECT_EQ(
      problemOf(folder, "[small, data]", options),
      "job.yaml:2:16: files[1]: the input files hold 10B in all, at most 9B are shipped; the largest is "
      "'data/large' with 6B, keep large data on the servers");
}

TEST(InputFiles, RefusesMoreThanTheBoundWithoutReadingThem) {
  ScratchFolder folder;
  folder.write("sparse", "");
  fs::resize_file(folder.at("sparse"), kMaxInputBytes + 1);
  EXPECT_THAT(problemOf(folder, "[sparse]"),
              testing::HasSubstr("at most 64MiB are shipped; the largest is 'sparse'"));
}

TEST(InputFiles, BoundsTheNumberOfFiles) {
  ScratchFolder folder;
  for (int i = 0; i < 4; ++i) folder.write("data/" + std::to_string(i), "");
  JobFileOptions options;
  options.maxInputFiles = 4;
  EXPECT_EQ(problemOf(folder, "[data]", options), "");
  options.maxInputFiles = 3;
  EXPECT_EQ(problemOf(folder, "[data]", options),
            "job.yaml:2:9: files[0]: there are more than 3 input files, the last seen in 'data'; ship an "
            "archive instead");
}

TEST(InputFiles, BoundsTheWalkThroughLinkedFolders) {
  ScratchFolder folder;
  fs::create_directory(folder.at("f0"));
  for (int i = 1; i < 30; ++i) {
    const std::string name = "f" + std::to_string(i);
    fs::create_directory(folder.at(name));
    for (const char* link : {"/x", "/y"})
      fs::create_directory_symlink("../f" + std::to_string(i - 1), folder.at(name + link));
  }
  EXPECT_EQ(problemOf(folder, "[f29]"),
            "job.yaml:2:9: files[0]: there are more than 10000 folders; name fewer");
}

TEST(InputFiles, AreAListOfTexts) {
  ScratchFolder folder;
  EXPECT_EQ(problemOf(folder, "train.py"),
            "job.yaml:2:8: files: is 'train.py'; write a list, for example [a, b]");
  EXPECT_EQ(problemOf(folder, "[{a: b}]"), "job.yaml:2:9: files[0]: is a mapping; write a text");
}

}  // namespace tarcil::formats_input_files_test
