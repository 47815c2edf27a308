#include "image/layer_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

namespace tarcil::layer_rules_test {

using namespace image;
using testing::HasSubstr;
using Kind = LayerEntry::Kind;

constexpr LayerBounds kBounds{1'000, 100};

std::string problemOf(const LayerEntry& entry) {
  const Status taken = LayerRules(kBounds).take(entry);
  return taken.ok() ? "" : taken.error().message;
}

TEST(LayerRules, TakeWhatImagesHave) {
  for (const char* path :
       {"a", "./a/b", "./", "/", "a/b/", "..a/b..", "a/.wh.b", "a/.wh..wh..opq", "a/...", ""})
    EXPECT_EQ(problemOf({.path = path}), "") << path;
  EXPECT_EQ(problemOf({.path = "a", .kind = Kind::kHardLink, .target = "b/c"}), "");
  EXPECT_EQ(problemOf({.path = "a", .kind = Kind::kSymbolicLink, .target = "/etc/../.."}), "")
      << "followed within the image";
  EXPECT_EQ(problemOf({.path = "a", .kind = Kind::kPipe}), "");
}

TEST(LayerRules, RefuseWhatLeadsOutside) {
  EXPECT_THAT(problemOf({.path = "/etc/passwd"}), HasSubstr("has an entry '/etc/passwd' that is absolute"));
  for (const char* path : {"..", "../a", "a/../../b", "a/..", "./.."})
    EXPECT_THAT(problemOf({.path = path}), HasSubstr("has .. in it")) << path;
  EXPECT_THAT(problemOf({.path = "a", .kind = Kind::kHardLink, .target = "../shadow"}),
              HasSubstr("is a link to '../shadow', which has .. in it"));
  EXPECT_THAT(problemOf({.path = "a", .kind = Kind::kHardLink, .target = "/etc/shadow"}),
              HasSubstr("which is absolute"));
  for (const char* path : {"a/.wh...", ".wh...", ".wh..", ".wh.", "a/.wh.../"})
    EXPECT_THAT(problemOf({.path = path}), HasSubstr("removes what is no file of its folder")) << path;
}

TEST(LayerRules, RefuseDevices) {
  EXPECT_THAT(problemOf({.path = "dev/sda", .kind = Kind::kDevice}),
              HasSubstr("has an entry 'dev/sda' that is a device; make the image without it"));
  EXPECT_THAT(problemOf({.path = "x", .kind = Kind::kOther}),
              HasSubstr("neither file, folder, link nor pipe"));
}

TEST(LayerRules, CountAllLayersTogether) {
  LayerRules rules({1'000, 3});
  EXPECT_TRUE(rules.take({.path = "a", .bytes = 600}).ok());
  EXPECT_TRUE(rules.take({.path = "a", .bytes = 400}).ok()) << "up to the bound";
  EXPECT_THAT(rules.take({.path = "b", .bytes = 1}).error().message, HasSubstr("takes more than 1000B"));
  EXPECT_THAT(rules.take({.path = "c"}).error().message, HasSubstr("more than 3 files and folders"));
  LayerRules other({1'000, 3});
  EXPECT_FALSE(other.take({.path = "a", .bytes = ~uint64_t{0}}).ok());
}

// What is taken stays below a folder that it is put into, by the names alone.
RC_GTEST_PROP(LayerRules, TakeNoPathThatLeavesItsFolder, ()) {
  const auto part = rc::gen::element<std::string>("..", ".", "a", "", ".wh.", ".wh..", ".wh...", "/", "...");
  std::string path;
  for (const std::string& one : *rc::gen::container<std::vector<std::string>>(part)) path += one + "/";
  if (*rc::gen::arbitrary<bool>() && !path.empty()) path.pop_back();
  if (!problemOf({.path = path}).empty()) return;
  const std::string inside = (std::filesystem::path("/root/") / ("./" + path)).lexically_normal();
  RC_ASSERT(inside.starts_with("/root/"));
}

}  // namespace tarcil::layer_rules_test
