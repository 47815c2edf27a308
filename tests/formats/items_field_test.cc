#include "formats/items_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/job_file.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::items_field_test {

using testing::ElementsAre;
using testing::HasSubstr;

struct ItemsOfAJob : testing::Test {
  Result<JobFile> job(const std::string& items, const std::string& more = "") {
    return parseJob("command: [x, '{item}']\n" + more + "items: " + items + "\n", "job.yaml",
                    folder.path().string(), {});
  }
  std::string problem(const std::string& items, const std::string& more = "") {
    const auto read = job(items, more);
    return read ? "" : read.error().message;
  }
  ScratchFolder folder;
};

TEST_F(ItemsOfAJob, AreWrittenOutOrARange) {
  const auto written = job("[a, 7, 'b c']");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(written->spec.items.all(), ElementsAre("a", "7", "b c"));
  EXPECT_EQ(written->spec.tasks, 3u);
  EXPECT_THAT(job("{range: 1..3}")->spec.items.all(), ElementsAre("1", "2", "3"));
  EXPECT_THAT(job("{range: -10..10, step: 10}")->spec.items.all(), ElementsAre("-10", "0", "10"));
}

TEST_F(ItemsOfAJob, AreTheLinesOfAFileOrAJsonList) {
  folder.write("lines", "one\ntwo words\r\nthree");
  folder.write("list.json", R"(["a", 7, {"b": [1]}])");
  EXPECT_THAT(job("{lines: lines}")->spec.items.all(), ElementsAre("one", "two words", "three"));
  EXPECT_THAT(job("{json: list.json}")->spec.items.all(), ElementsAre("a", "7", R"({"b":[1]})"));
}

TEST_F(ItemsOfAJob, SayWhatToWriteInstead) {
  folder.write("empty", "");
  folder.write("gap", "one\n\nthree\n");
  folder.write("nul", std::string("one\nt\0o\n", 8));
  folder.write("text.json", "\"a\"");
  std::string many;
  for (int i = 0; i < 1'000'000; ++i) many += "x\n";
  folder.write("many", many);
  EXPECT_THAT(problem("{lines: empty}"), HasSubstr("/empty: is empty; write an item a line"));
  EXPECT_THAT(problem("{lines: gap}"), HasSubstr("/gap:2: the line is empty; remove it"));
  EXPECT_THAT(problem("{lines: nul}"), HasSubstr("/nul:2: the line has a NUL character in it"));
  EXPECT_THAT(problem("{lines: many}"),
              HasSubstr("/many:100001: there are more lines than the 100000 tasks"));
  EXPECT_THAT(problem("{lines: none}"), HasSubstr("job.yaml:2:16: items.lines: "));
  EXPECT_THAT(problem("{json: text.json}"), HasSubstr("is no JSON list with something in it"));
  EXPECT_THAT(problem("[]"), HasSubstr("items: is an empty list; write a list, or one of {range: 1..100}"));
  EXPECT_THAT(problem("a"), HasSubstr("items: is 'a'; write a list"));
  EXPECT_THAT(problem("{range: 5..1}"), HasSubstr("is '5..1'; write two whole numbers"));
  EXPECT_THAT(problem("{range: 1..1000000}"), HasSubstr("has 1000000 numbers"));
  EXPECT_THAT(problem("{lines: gap, range: 1..2}"), HasSubstr("items: write a list, or one of"));
  EXPECT_THAT(problem("{lines: lines, step: 2}"), HasSubstr("items.step: is for a range"));
  EXPECT_THAT(problem("[a, b]", "tasks: 3\n"), HasSubstr("items: are 2, one for each task, and tasks is 3"));
  EXPECT_THAT(problem("[a]", "env: {TARCIL_ITEM: b}\n"), HasSubstr("env.TARCIL_ITEM"));
}

}  // namespace tarcil::items_field_test
