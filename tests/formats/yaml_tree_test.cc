#include "formats/yaml_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace tarcil::yaml_tree_test {

std::string problemOf(std::string_view text) {
  auto tree = parseYaml(text, "f");
  if (tree.ok()) return "";
  EXPECT_EQ(tree.error().code, ErrorCode::kInvalid);
  return tree.error().message;
}

std::string repeated(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(ParseYaml, KeepsPlaceAndQuoting) {
  auto tree = parseYaml("a: 1\nb:\n  - 'x'\n  - ~\n", "f");
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(tree->keys.size(), 2u);
  EXPECT_EQ(tree->keys[1].place, (FilePosition{2, 1}));
  EXPECT_EQ(tree->values[0].text, "1");
  EXPECT_FALSE(tree->values[0].quoted);
  const YamlNode& list = tree->values[1];
  EXPECT_EQ(list.kind, YamlNode::Kind::kSequence);
  EXPECT_EQ(list.values[0].place, (FilePosition{3, 5}));
  EXPECT_TRUE(list.values[0].quoted);
  EXPECT_EQ(list.values[1].kind, YamlNode::Kind::kNull);
}

TEST(ParseYaml, ReadsJson) {
  auto tree = parseYaml("{\"a\":{\"b\":[1,\"\\u00e4\\/\",null,true]},\n\t\"c\":{}}", "f");
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  const YamlNode& list = tree->values[0].values[0];
  ASSERT_EQ(list.values.size(), 4u);
  EXPECT_EQ(list.values[1].text, "\u00e4/");
  EXPECT_EQ(list.values[2].kind, YamlNode::Kind::kNull);
}

TEST(ParseYaml, SaysWhereTheTextIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "f:1:1: file: is empty; write the fields into it"},
      {"# only a comment\n", "f:1:1: file: is empty; write the fields into it"},
      {"a: [1\n",
       "f:2:1: syntax: end of sequence flow not found; check indentation, quotes and brackets here and just "
       "before"},
      {"a: 1\n b: 2\n",
       "f:2:3: syntax: illegal map value; check indentation, quotes and brackets here and just before"},
      {"a: 1\n---\nb: 2\n",
       "f:2:1: syntax: the file has text after the end of its first document; keep one document"},
      {"a: !!int 1\n", "f:1:4: syntax: tag 'tag:yaml.org,2002:int' is not read; remove it"},
      {"a: *b\n",
       "f:1:4: syntax: the referenced anchor is not defined; check indentation, quotes and brackets here and "
       "just before"},
      {"a: &b [*b]\n", "f:1:8: syntax: an alias stands inside what it repeats; write the value out"},
      {"a: 1\nb: \xff\n", "f:2:4: text: the file is not UTF-8 text; save it as UTF-8"},
      {std::string("\xff\xfe"
                   "a\0",
                   4),
       "f:1:1: text: the file is not UTF-8 text; save it as UTF-8"},
      {"a: 1\n\x04 b: 2\n", "f:2:1: text: control character '\\x04'; remove it"},
      {"a: \"\\",
       "f:1:7: syntax: 'unknown escape character: \\x04'; check indentation, quotes and brackets here and "
       "just before"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(problemOf(text), expected) << text;
}

TEST(ParseYaml, NamesATabThatALineBeginsWith) {
  for (const char* text : {"a: 1\nlimits:\n\tmemory: 1GiB\n", "a:\n  - b\n  \t- c\n", "a:\n\t- b\n"}) {
    const auto parsed = parseYaml(text, "job.yaml");
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("a tab; YAML takes spaces")) << text;
  }
  EXPECT_THAT(parseYaml("a: 1\nlimits:\n\tmemory: 1GiB\n", "job.yaml").error().message,
              testing::StartsWith("job.yaml:3:1: "));
  EXPECT_THAT(parseYaml("a: [\n\tb,\n\tc\n]\nd: 1\ne: ]\n", "job.yaml").error().message,
              testing::Not(testing::HasSubstr("a tab")))
      << "between brackets they are allowed, and what is wrong is elsewhere";
}

TEST(ParseYaml, RepeatsWhatAnAliasNames) {
  auto tree = parseYaml("a: &x {k: v}\nb: *x\n", "f");
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  EXPECT_EQ(tree->values[1].values[0].text, "v");
  EXPECT_EQ(tree->values[1].place, (FilePosition{2, 4}));
}

TEST(ParseYaml, BoundsWhatAliasesMakeOfASmallFile) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1) + ", ";
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + repeated(previous, 10) + "]\n";
  }
  EXPECT_THAT(problemOf(bomb),
              testing::HasSubstr("anchors and aliases repeat too much; write the values out"));
  const std::string wide = "a: &x " + std::string(1000, 'x') + "\nb: [" + repeated("*x, ", 10'000) + "]\n";
  EXPECT_THAT(problemOf(wide), testing::HasSubstr("anchors and aliases repeat too much"));
  const std::string nested = repeated("&a [", 60) + repeated("1,", 100'000) + repeated("]", 60);
  EXPECT_THAT(problemOf(nested), testing::HasSubstr("anchors and aliases repeat too much"));
}

TEST(ParseYaml, BoundsDepthAndSize) {
  EXPECT_EQ(problemOf(repeated("[", 64) + repeated("]", 64)), "");
  EXPECT_EQ(problemOf(repeated("[", 65) + repeated("]", 65)),
            "f:1:65: syntax: values are nested deeper than 64 levels; write them flat");
  for (const char* part : {"[", "{", "- ", "? ", "{a: ", "[[{"}) {
    EXPECT_NE(problemOf(repeated(part, 100'000)), "") << part;
  }
  EXPECT_EQ(problemOf(std::string(kMaxYamlBytes + 1, 'x')),
            "f:1:1: file: is larger than 1MiB; keep data in files of its own");
}

TEST(ReadTextFile, SaysWhyItCannotRead) {
  ScratchFolder folder;
  folder.write("small", "12345");
  EXPECT_EQ(*readTextFile(folder.at("small"), 5), "12345");
  EXPECT_EQ(readTextFile(folder.at("small"), 4).error().message,
            folder.at("small") + ": is larger than 4B; make it smaller");
  EXPECT_EQ(
      readTextFile(folder.at("none"), 5).error().message,
      folder.at("none") + ": cannot be read: No such file or directory; check the path and its permissions");
  EXPECT_EQ(readTextFile(folder.at(""), 5).error().message,
            folder.at("") + ": cannot be read: Is a directory; check the path and its permissions");
}

}  // namespace tarcil::yaml_tree_test
