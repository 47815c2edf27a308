// Errors as HTTP has them.
#include "gateway/server/reply.h"

#include <gtest/gtest.h>

namespace tarcil::gateway::reply_test {

TEST(Errors, OfJobFilesCarryTheirLines) {
  const Reply reply = errorReply(
      badInput("job:3:8: tasks: is 0; write: more\njob:1:1: file: is empty\nsomething else"), false);
  EXPECT_EQ(reply.status, 400);
  const Json error = Json::parse(reply.body).at("error");
  ASSERT_EQ(error.at("problems").size(), 2u);
  EXPECT_EQ(error.at("problems").at(0),
            (Json{{"line", 3}, {"column", 8}, {"field", "tasks"}, {"message", "is 0; write: more"}}));
  EXPECT_EQ(error.at("problems").at(1).at("line"), 1);
}

TEST(Errors, OfOtherThingsHaveNoLines) {
  for (const char* message : {"", "job:", "job:3: a: b", "job:a:1: x: y", "jobs:1:1: x: y", "job:1:1:x"}) {
    const Json error = Json::parse(errorReply(invalid(message)).body).at("error");
    EXPECT_FALSE(error.contains("problems")) << message;
    EXPECT_EQ(error.at("message"), message);
  }
}

TEST(Errors, HaveAStatusEach) {
  EXPECT_EQ(errorReply(notFound("")).status, 404);
  EXPECT_EQ(errorReply(denied("")).status, 403);
  EXPECT_EQ(errorReply({ErrorCode::kExhausted, ""}).status, 429);
  EXPECT_EQ(errorReply({ErrorCode::kUnavailable, ""}).status, 503);
  EXPECT_EQ(errorReply({ErrorCode::kConflict, ""}).status, 409);
  EXPECT_EQ(errorReply({ErrorCode::kInternal, ""}).status, 500);
  EXPECT_EQ(errorReply(Failure(kExitFailed, ""), true).status, 409);
  EXPECT_EQ(errorReply(Failure(kExitFailed, ""), false).status, 404);
  EXPECT_EQ(errorReply(Failure(kExitNoCluster, ""), false).status, 503);
}

TEST(Texts, OfOthersAreUtf8WhateverIsInThem) {
  EXPECT_EQ(textOf(Json("a\xff"
                        "b\n<")),
            "\"a\xef\xbf\xbd"
            "b\\n<\"");
}

}  // namespace tarcil::gateway::reply_test
