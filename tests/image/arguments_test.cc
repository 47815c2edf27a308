#include "image/arguments.h"

#include <gtest/gtest.h>

namespace tarcil::arguments_test {

using namespace image;

TEST(Arguments, AreReadAsTheyWereWritten) {
  Arguments arguments;
  arguments.sandbox = {"/a=b", "/point", 1, 2, 3, 4};
  arguments.request.reference = *parseImage("docker://localhost:5/a:v1");
  arguments.request.digest = "sha256:x";
  arguments.request.have = {"sha256:y", "sha256:z"};
  arguments.request.skopeo = "/usr/bin/skopeo";
  arguments.request.umoci = "/usr/bin/umoci";
  arguments.request.insecureRegistries = {"localhost:5"};
  arguments.request.bounds = {6, 7};
  arguments.request.reserve = 8;
  const auto words = encodeArguments(arguments);
  const auto read = parseArguments(words);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(encodeArguments(*read), words);
  EXPECT_EQ(read->sandbox.stage, "/a=b");
  EXPECT_EQ(read->request.bounds.entries, 7u);
  EXPECT_EQ(read->request.reference, arguments.request.reference);
}

TEST(Arguments, OfAnotherBuildAreRefused) {
  for (const char* word : {"new=1", "uid=x", "uid=-1", "point-of", "image=x"})
    EXPECT_FALSE(parseArguments({word}).ok()) << word;
}

TEST(Arguments, WhatWasFetchedIsSaidInALine) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const auto read = decodeFetched(encodeFetched({digest, true, 12}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->digest, digest);
  EXPECT_TRUE(read->isNew);
  EXPECT_EQ(read->bytes, 12u);
  EXPECT_FALSE(decodeFetched("sha256:x new 1\n"));
  EXPECT_FALSE(decodeFetched(digest + " new\n"));
  EXPECT_FALSE(decodeFetched(""));
}

}  // namespace tarcil::arguments_test
