// Which requests are served, and what is wrong with the others.
#include "gateway/logic/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tarcil::gateway::routes_test {

using testing::ElementsAre;
using testing::HasSubstr;

Question asked(std::string_view method, std::string_view target) {
  auto matched = match(method, target);
  if (!matched || !std::holds_alternative<Question>(*matched)) {
    ADD_FAILURE() << method << " " << target << " is not served";
    return {&routes().front()};
  }
  return std::get<Question>(*matched);
}

std::string problemOf(std::string_view target) {
  const auto matched = match("GET", target);
  return matched ? "" : matched.error().message;
}

TEST(Routes, AreFoundByMethodAndPath) {
  EXPECT_EQ(asked("GET", "/api/v1/status").route->operation, Operation::kStatus);
  EXPECT_EQ(asked("GET", "/api/v1/jobs").route->operation, Operation::kJobs);
  EXPECT_EQ(asked("POST", "/api/v1/jobs").route->operation, Operation::kSubmit);
  EXPECT_EQ(asked("HEAD", "/api/v1/jobs").route->operation, Operation::kJobs);
}

TEST(Routes, GiveTheArgumentsOfPathAndQueryWithDefaults) {
  const Question question = asked("GET", "/api/v1/jobs/4711?first=20");
  EXPECT_EQ(question.arguments.text("job"), "4711");
  EXPECT_EQ(question.arguments.whole("first"), 20);
  EXPECT_EQ(question.arguments.whole("limit"), 500);
  EXPECT_FALSE(asked("GET", "/api/v1/jobs/1/logs").arguments.flag("follow"));
}

TEST(Routes, PreferWordsToNames) {
  EXPECT_EQ(asked("GET", "/api/v1/settings/table").route->operation, Operation::kSampleTable);
  EXPECT_EQ(asked("POST", "/api/v1/session/end").route->operation, Operation::kSignOut);
}

TEST(Routes, SayWhichOtherMethodsThereAre) {
  const auto matched = match("DELETE", "/api/v1/jobs");
  ASSERT_TRUE(matched);
  ASSERT_TRUE(std::holds_alternative<OtherMethod>(*matched));
  EXPECT_THAT(std::get<OtherMethod>(*matched).methods, ElementsAre(Method::kGet, Method::kPost));
}

TEST(Routes, AreNotThereForOtherPaths) {
  for (const char* path :
       {"/api/v1", "/api/v1/", "/api/v1/jobs/", "/api/v2/status", "/api/v1/jobs/1/2/3", "/api/v1//status"}) {
    const auto matched = match("GET", path);
    ASSERT_TRUE(matched) << path;
    EXPECT_TRUE(std::holds_alternative<NoSuchPath>(*matched)) << path;
  }
}

TEST(Arguments, AreReadFromTheirEscapes) {
  EXPECT_EQ(asked("GET", "/api/v1/servers/a%2fb%20c").arguments.text("name"), "a/b c");
  EXPECT_EQ(asked("GET", "/api/v1/jobs?name=a+b%2B").arguments.text("name"), "a b+");
}

TEST(Arguments, ThatAreWrongAreNamedWithWhatToWrite) {
  EXPECT_THAT(problemOf("/api/v1/jobs?limit=0"),
              HasSubstr("limit: '0' does not fit; write a whole number from 1 to 1000"));
  EXPECT_THAT(problemOf("/api/v1/jobs?limit=1&limit=2"), HasSubstr("limit: is there twice"));
  EXPECT_THAT(problemOf("/api/v1/jobs?limt=1"), HasSubstr("'limt' is no parameter"));
  EXPECT_THAT(problemOf("/api/v1/jobs?name="), HasSubstr("name: '' does not fit"));
  EXPECT_THAT(problemOf("/api/v1/contention?by=colour"), HasSubstr("write one of server, platform, rack"));
  EXPECT_THAT(problemOf("/api/v1/jobs/1/logs?follow=yes"), HasSubstr("write true or false"));
  EXPECT_THAT(problemOf("/api/v1/settings/table?confidence=inf"), HasSubstr("write a number"));
  EXPECT_THAT(problemOf("/api/v1/servers/%zz"), HasSubstr("write %25"));
  EXPECT_THAT(problemOf("/api/v1/servers/%4"), HasSubstr("write %25"));
  EXPECT_THAT(problemOf("/api/v1/servers/a%00b"), HasSubstr("%00"));
  EXPECT_THAT(problemOf("/api/v1/servers/%ff"), HasSubstr("UTF-8"));
  EXPECT_THAT(problemOf("/api/v1/jobs?name=" + std::string(20'000, 'a')), HasSubstr("is longer than"));
  std::string many = "/api/v1/jobs?limit=1";
  for (int i = 0; i < 40; ++i) many += "&a=1";
  EXPECT_THAT(problemOf(many), HasSubstr("more than 32 parameters"));
}

TEST(Table, HasEachOperationOnceAndEachPathArgumentDescribed) {
  std::set<Operation> operations;
  for (const Route& route : routes()) {
    EXPECT_TRUE(operations.insert(route.operation).second) << route.path;
    for (const Parameter& parameter : route.parameters) {
      const std::string inPath = "{" + std::string(parameter.name) + "}";
      EXPECT_EQ(std::string(route.path).find(inPath) != std::string::npos, parameter.isInPath)
          << route.path << " " << parameter.name;
    }
    const auto braces = std::count(route.path, route.path + std::char_traits<char>::length(route.path), '{');
    EXPECT_EQ(braces, std::ranges::count_if(route.parameters, &Parameter::isInPath)) << route.path;
  }
  EXPECT_EQ(operations.size(), static_cast<size_t>(Operation::kSignOut) + 1);
}

TEST(Table, LetsNobodyInWithoutAUserButToSignInAndToRead) {
  for (const Route& route : routes()) {
    if (route.access != Access::kAnyone) continue;
    EXPECT_TRUE(route.operation == Operation::kSignIn || route.operation == Operation::kOpenApi)
        << route.path;
  }
}

}  // namespace tarcil::gateway::routes_test
