// The examples of the documents are what the readers read.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "formats/job_file.h"
#include "formats/profile_file.h"
#include "formats/servers_file.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::documents_test {

// The blocks that start with exactly this line, without their fences.
std::vector<std::string> blocksOf(const std::string& document, const std::string& fence) {
  std::ifstream file(std::string(TARCIL_SOURCE_DIR "/docs/") + document);
  EXPECT_TRUE(file.is_open()) << document;
  std::vector<std::string> blocks;
  bool isInside = false;
  for (std::string line; std::getline(file, line);) {
    if (isInside && line == "```") {
      isInside = false;
    } else if (isInside) {
      blocks.back() += line + '\n';
    } else if (line == fence) {
      isInside = true;
      blocks.emplace_back();
    }
  }
  return blocks;
}

TEST(Documents, JobsAreRead) {
  ScratchFolder folder;
  folder.write("train.py", "");
  folder.write("data/a", "");
  folder.write("logreg.profile.yaml", "caused: {llc: 60}");
  const auto blocks = blocksOf("job-file.md", "```yaml");
  EXPECT_GE(blocks.size(), 5u);
  for (const std::string& block : blocks) {
    auto job = parseJob(block, "job.yaml", folder.path().string(), {});
    EXPECT_TRUE(job.ok()) << block << (job.ok() ? "" : job.error().message);
  }
}

TEST(Documents, TheTemplateAmongTheExamplesIsReadWithAndWithoutChosenValues) {
  const std::string path = TARCIL_SOURCE_DIR "/examples/template/job.yaml";
  JobFileOptions options;
  const auto usual = readJobFile(path, options);
  ASSERT_TRUE(usual.ok()) << usual.error().message;
  options.parameters = {{"lines", "100000"}, {"tasks", "4"}, {"order", "numeric"}};
  const auto chosen = readJobFile(path, options);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->spec.tasks, 4u);
  EXPECT_EQ(chosen->spec.name, "sort 100000 numeric");
}

TEST(Documents, DescribeTheFieldsOfAJobAsTheTableDoes) {
  std::ifstream file(TARCIL_SOURCE_DIR "/docs/job-file.md");
  const std::string document((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const std::string& row : jobFieldRows()) {
    EXPECT_NE(document.find("\n" + row + "\n"), std::string::npos) << "docs/job-file.md needs this row:\n"
                                                                   << row;
  }
}

TEST(Documents, ProfilesAreRead) {
  const auto blocks = blocksOf("job-file.md", "```yaml profile");
  EXPECT_GE(blocks.size(), 1u);
  for (const std::string& block : blocks) EXPECT_TRUE(parseProfile(block, "p.yaml").ok()) << block;
}

TEST(Documents, ServersAreRead) {
  const auto blocks = blocksOf("emulated-servers.md", "```yaml servers");
  EXPECT_GE(blocks.size(), 1u);
  for (const std::string& block : blocks) {
    auto servers = parseServers(block, "s.yaml");
    EXPECT_TRUE(servers.ok()) << block << (servers.ok() ? "" : servers.error().message);
  }
}

}  // namespace tarcil::documents_test
