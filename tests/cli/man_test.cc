// The manual pages: one of each command, which groff takes without a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::man_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kGroff = "/usr/bin/groff";

std::string contentOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Words that lead to a command of `tarcil --help` or of one below it.
void addCommands(const Words& words, std::set<std::string>& names) {
  Words help = words;
  help.emplace_back("--help");
  std::string name = "tarcil";
  for (const std::string& word : words) name += "-" + word;
  names.insert(name + ".1");
  std::istringstream lines(tarcil(help).out);
  const std::regex command("^  ([a-z][a-z-]*)( .*)?$");
  bool isHeading = false;  // of commands
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(':'))
      isHeading = line != "Options:" && line != "Arguments:" && line != "Examples:" && line != "Exit codes:";
    std::smatch found;
    if (!isHeading || !std::regex_match(line, found, command)) continue;
    Words below = words;
    below.push_back(found[1]);
    addCommands(below, names);
  }
}

class ManualTest : public testing::Test {
 protected:
  ManualTest() {
    const ProcessResult written = tarcil({"man", "--into", folder_.at("man1")});
    EXPECT_EQ(written.exitCode, 0) << written.err;
    for (const auto& file : fs::directory_iterator(folder_.at("man1"))) pages_.push_back(file.path());
  }

  const ScratchFolder folder_;
  std::vector<fs::path> pages_;
};

TEST_F(ManualTest, HasAPageOfEachCommand) {
  std::set<std::string> commands, pages;
  addCommands({}, commands);
  for (const fs::path& page : pages_) pages.insert(page.filename());
  EXPECT_THAT(commands, testing::Contains("tarcil-job-list.1"));
  EXPECT_EQ(pages, commands);
}

TEST_F(ManualTest, IsTakenByGroffWithoutAWarning) {
  if (!fs::exists(kGroff)) GTEST_SKIP() << "there is no " << kGroff << " here (package groff-base)";
  Words words = {kGroff, "-man", "-Tutf8", "-ww", "-z"};
  for (const fs::path& page : pages_) words.push_back(page);
  const ProcessResult result = runProcess(words, {{"PATH", "/usr/bin:/bin"}});
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(ManualTest, LinksToPagesThatAreThere) {
  const std::regex link(R"(^\.BR (\S+) \(1\),?$)", std::regex::multiline);
  size_t links = 0;
  for (const fs::path& page : pages_) {
    const std::string text = contentOf(page);
    for (std::sregex_iterator i(text.begin(), text.end(), link), end; i != end; ++i, ++links) {
      const std::string name = std::regex_replace((*i)[1].str(), std::regex(R"(\\-)"), "-");
      EXPECT_TRUE(fs::exists(fs::path(folder_.at("man1")) / (name + ".1"))) << page << " links to " << name;
    }
  }
  EXPECT_GE(links, pages_.size()) << "each has one at least: what it is below";
}

TEST(Man, PrintsThePageOfACommand) {
  const std::string page = tarcil({"man", "job", "list"}).out;
  EXPECT_THAT(page, testing::StartsWith(".TH TARCIL\\-JOB\\-LIST 1 "));
  for (const char* part :
       {".SH NAME\ntarcil\\-job\\-list \\- list jobs, newest first\n", "\\fB\\-\\-watch [SECONDS]\\fR\n",
        ".SH EXAMPLES\n.nf\n\\&  tarcil job list\n", ".BR tarcil\\-job (1)"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(Man, OfNoCommandIsRefused) {
  const ProcessResult result = tarcil({"man", "job", "lists"});
  EXPECT_EQ(result.exitCode, 2);
  EXPECT_THAT(result.err, HasSubstr("'tarcil job lists' is no command"));
}

TEST(Man, SaysWhereItCannotWrite) {
  const ScratchFolder folder;
  folder.write("file", "");
  const ProcessResult result = tarcil({"man", "--into", folder.at("file/man1")});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_THAT(result.err, HasSubstr(folder.at("file/man1") + ": cannot be made: "));
}

}  // namespace tarcil::man_test
