#include "image/oci_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/image_layout.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::oci_layout_test {

using namespace image;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

template <typename T>
std::string problemOf(const T& outcome) {
  return outcome.ok() ? "" : outcome.error().message;
}

const std::string kDigest = "sha256:" + std::string(64, '0');
const std::string kBlob = R"({"digest":")" + kDigest + R"(","size":5})";

TEST(OciLayout, DigestsAreThoseOfTheStandard) {
  EXPECT_EQ(digestOf(""), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(OciLayout, AnImageIsVerifiedBlobByBlob) {
  const TemporaryFolder folder;
  ImageLayout layout(folder.path() + "/layout");
  layout.add(layerOf({{"a", "x"}}));
  const std::string digest = layout.tag("v1");
  const auto named = manifestIn(*readJsonFile(layout.folder() + "/index.json"));
  ASSERT_TRUE(named.ok()) << problemOf(named);
  EXPECT_EQ(named->digest, digest);
  EXPECT_EQ(problemOf(verifyBlob(layout.folder(), *named)), "");
  const auto manifest = parseManifest(*readJsonFile(blobPath(layout.folder(), *named)), 1 << 20);
  ASSERT_TRUE(manifest.ok()) << problemOf(manifest);
  ASSERT_THAT(manifest->layers, testing::SizeIs(1));
  const Blob layer = manifest->layers[0];
  EXPECT_EQ(problemOf(verifyBlob(layout.folder(), layer)), "");

  const std::string path = blobPath(layout.folder(), layer);
  std::fstream(path, std::ios::in | std::ios::out).write("y", 1);
  EXPECT_THAT(problemOf(verifyBlob(layout.folder(), layer)),
              HasSubstr("where its manifest says " + layer.digest));
  std::filesystem::resize_file(path, 700);
  EXPECT_THAT(problemOf(verifyBlob(layout.folder(), layer)), HasSubstr("has 700 bytes of " + layer.digest));
  std::filesystem::remove(path);
  EXPECT_THAT(problemOf(verifyBlob(layout.folder(), layer)), HasSubstr("lacks " + layer.digest));
  std::filesystem::create_symlink("/etc/passwd", path);
  EXPECT_THAT(problemOf(verifyBlob(layout.folder(), layer)), HasSubstr("lacks " + layer.digest));
}

TEST(OciLayout, ManifestsAreBounded) {
  const auto with = [](const std::string& layers) {
    return problemOf(parseManifest(R"({"config":)" + kBlob + R"(,"layers":[)" + layers + "]}", 12));
  };
  EXPECT_EQ(with(kBlob + "," + kBlob), "");
  EXPECT_THAT(with(kBlob + "," + kBlob + "," + kBlob), HasSubstr("layers of more than 12 bytes"));
  std::string many = R"({"digest":")" + kDigest + R"(","size":0})";
  for (size_t i = 0; i < kMaxLayers; ++i) many += R"(,{"digest":")" + kDigest + R"(","size":0})";
  EXPECT_THAT(with(many), HasSubstr("has 128 layers, at most 127 are taken"));
  EXPECT_THAT(with(R"({"digest":"md5:x","size":0})"), HasSubstr("no digest by sha256"));
  EXPECT_THAT(with(R"({"digest":")" + kDigest + R"(","size":-1})"), HasSubstr("or no size"));
  EXPECT_THAT(problemOf(parseManifest("{", 12)), HasSubstr("configuration"));
}

TEST(OciLayout, OneImageIsNamed) {
  EXPECT_THAT(problemOf(manifestIn(R"({"manifests":[]})")), HasSubstr("names no image, or several"));
  EXPECT_THAT(problemOf(manifestIn(R"({"manifests":[)" + kBlob + "," + kBlob + "]}")),
              HasSubstr("or several"));
  EXPECT_THAT(manifestsListedIn(R"({"manifests":[)" + kBlob + "]}"), ElementsAre(kDigest));
  EXPECT_THAT(manifestsListedIn("{}"), ElementsAre());
}

TEST(OciLayout, OfAConfigurationWhatCountsIsRead) {
  const auto config = parseConfig(
      R"({"config":{"User":"root","Entrypoint":["/a"],"Cmd":["b"],"Env":["A=b=c","HOME=/root"],"WorkingDir":"/w"}})");
  ASSERT_TRUE(config.ok()) << problemOf(config);
  EXPECT_THAT(config->command, ElementsAre("/a", "b"));
  EXPECT_THAT(config->env, ElementsAre(Pair("A", "b=c")));
  EXPECT_EQ(config->workdir, "/w");
  EXPECT_EQ(*parseConfig("{}"), ImageConfig{});
  for (const char* text : {"", "[]", R"({"config":{"Cmd":"x"}})", R"({"config":{"Cmd":[1]}})",
                           R"({"config":{"Cmd":["a\u0000b"]}})", R"({"config":{"Env":["A"]}})",
                           R"({"config":{"Env":["=b"]}})", R"({"config":{"WorkingDir":"w"}})"}) {
    EXPECT_FALSE(parseConfig(text).ok()) << text;
  }
}

TEST(OciLayout, HoweverDeepIsRead) {
  const std::string deep(1'000'000, '[');
  EXPECT_FALSE(parseConfig(deep).ok());
  EXPECT_TRUE(parseConfig(R"({"x":)" + deep + std::string(1'000'000, ']') + "}").ok())
      << "nobody looks there";
}

RC_GTEST_PROP(OciLayout, AnythingIsReadOrRefused, ()) {
  const auto piece =
      rc::gen::element<std::string>("{", "}", "[", "]", ",", ":", "\"config\"", "\"layers\"", "\"Env\"",
                                    "\"manifests\"", "\"digest\"", "\"size\"", "1", "null", "\"x\"");
  std::string text;
  for (const std::string& one : *rc::gen::container<std::vector<std::string>>(piece)) text += one;
  static_cast<void>(parseConfig(text).ok());
  static_cast<void>(parseManifest(text, 100).ok());
  static_cast<void>(manifestIn(text).ok());
  manifestsListedIn(text);
}

}  // namespace tarcil::oci_layout_test
