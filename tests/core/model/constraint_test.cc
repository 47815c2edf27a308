#include "core/model/constraint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::constraint_test {

using Operator = Constraint::Operator;
using Attributes = std::map<std::string, std::string>;

bool holds(std::string_view text, const Attributes& attributes) {
  auto constraint = parseConstraint(text);
  EXPECT_TRUE(constraint.ok()) << text;
  return constraint.ok() && meets(*constraint, attributes);
}

TEST(ParseConstraint, ReadsEveryOperator) {
  const std::pair<const char*, Constraint> cases[] = {
      {"gpu = true", {"gpu", Operator::kEqual, {"true"}}},
      {"rack!=r3", {"rack", Operator::kNotEqual, {"r3"}}},
      {"cores < 16", {"cores", Operator::kLess, {"16"}}},
      {" cores>1.5 ", {"cores", Operator::kGreater, {"1.5"}}},
      {"platform in (haswell-2.3)", {"platform", Operator::kIn, {"haswell-2.3"}}},
      {"platform in(a,b , \"c d\")", {"platform", Operator::kIn, {"a", "b", "c d"}}},
      {"platform not  in (a)", {"platform", Operator::kNotIn, {"a"}}},
      {"ssd exists", {"ssd", Operator::kExists, {}}},
      {"\"my disk\" = ''", {"my disk", Operator::kEqual, {""}}},
      {"in in (in)", {"in", Operator::kIn, {"in"}}},
  };
  for (const auto& [text, expected] : cases) {
    auto constraint = parseConstraint(text);
    ASSERT_TRUE(constraint.ok()) << text << ": " << constraint.error().message;
    EXPECT_EQ(*constraint, expected) << text;
  }
}

TEST(ParseConstraint, PointsAtTheColumnOfTheProblem) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "column 1: the name of an attribute is missing; write for example gpu = true"},
      {"= 5", "column 1: the name of an attribute is missing; write for example gpu = true"},
      {"gpu",
       "column 4: an operator is missing after 'gpu'; write one of =, !=, <, >, in (a, b), not in (a, b), "
       "exists"},
      {"gpu like x",
       "column 5: an operator is missing after 'gpu'; write one of =, !=, <, >, in (a, b), not in (a, b), "
       "exists"},
      {"gpu not exists",
       "column 5: an operator is missing after 'gpu'; write one of =, !=, <, >, in (a, b), not in (a, b), "
       "exists"},
      {"gpu == true", "column 5: '==' is no operator; write = or !="},
      {"cores <= 4", "column 7: '<=' is no operator; write < or >"},
      {"gpu =",
       "column 6: a value is missing; write one, in quotes if it has spaces or any of ,()=!<> in it"},
      {"cores > many", "column 9: 'many' is not a number; < and > compare numbers only"},
      {"cores > inf", "column 9: 'inf' is not a number; < and > compare numbers only"},
      {"rack in r1", "column 9: a list is missing; write it in parentheses, as in (a, b)"},
      {"rack in ()",
       "column 10: a value is missing; write one, in quotes if it has spaces or any of ,()=!<> in it"},
      {"rack in (a b)", "column 12: the list has no end; separate values with commas and close it with ')'"},
      {"rack in (a", "column 11: the list has no end; separate values with commas and close it with ')'"},
      {"rack = 'a", "column 8: the quote is not closed; close it with the same character"},
      {"a = b c",
       "column 7: unexpected text after the end of the condition; write one condition for each entry"},
      {"a exists, b = c",
       "column 9: unexpected text after the end of the condition; write one condition for each entry"},
  };
  for (const auto& [text, expected] : cases) {
    auto constraint = parseConstraint(text);
    ASSERT_FALSE(constraint.ok()) << text;
    EXPECT_EQ(constraint.error(), invalid(expected)) << text;
  }
}

TEST(ParseConstraint, BoundsItsInput) {
  EXPECT_FALSE(parseConstraint("a = " + std::string(kMaxConstraintBytes, 'x')).ok());
  std::string list = "a in (0";
  for (size_t i = 1; i < kMaxConstraintValues; ++i) list += ",0";
  EXPECT_TRUE(parseConstraint(list + ")").ok());
  EXPECT_FALSE(parseConstraint(list + ",0)").ok());
}

TEST(ConditionIn, TellsConditionsFromNames) {
  EXPECT_EQ(**conditionIn("rack = r1"), (Constraint{"rack", Constraint::Operator::kEqual, {"r1"}}));
  EXPECT_EQ(**conditionIn("gpu exists"), (Constraint{"gpu", Constraint::Operator::kExists, {}}));
  for (const char* name : {"server-1", "s 1", "10.0.0.1:7102", "exists"}) {
    const auto read = conditionIn(name);
    ASSERT_TRUE(read.ok()) << name;
    EXPECT_FALSE(read->has_value()) << name;
  }
  for (const char* wrong : {"rack == r1", "rack in (r1", "'s1", "= r1"})
    EXPECT_FALSE(conditionIn(wrong)) << wrong;
}

TEST(ListIn, IsAListOfServersElseOfRacks) {
  const auto listOf = [](std::vector<std::string> texts) {
    std::vector<Constraint> constraints;
    for (const std::string& text : texts) constraints.push_back(*parseConstraint(text));
    const Constraint* list = listIn(constraints);
    return list ? describe(*list) : "";
  };
  EXPECT_EQ(listOf({"rack = r1", "gpu exists", "server in (a, b)"}), "server in (a, b)");
  EXPECT_EQ(listOf({"gpu exists", "rack = r1"}), "rack = r1");
  EXPECT_EQ(listOf({"server != a", "rack not in (r1)", "server exists", "gpu = a"}), "");
}

TEST(Meets, ComparesAsTextExceptForOrder) {
  EXPECT_TRUE(holds("gpu = true", {{"gpu", "true"}}));
  EXPECT_FALSE(holds("gpu = 1", {{"gpu", "1.0"}}));
  EXPECT_TRUE(holds("gpu != 1", {{"gpu", "1.0"}}));
  EXPECT_TRUE(holds("rack in (r1, r2)", {{"rack", "r2"}}));
  EXPECT_FALSE(holds("rack not in (r1, r2)", {{"rack", "r2"}}));
  EXPECT_TRUE(holds("rack not in (r1, r2)", {{"rack", "r3"}}));
  EXPECT_TRUE(holds("ssd exists", {{"ssd", ""}}));
}

TEST(Meets, OrdersNumbersAndNothingElse) {
  EXPECT_TRUE(holds("cores > 9", {{"cores", "10"}}));
  EXPECT_FALSE(holds("cores < 9", {{"cores", "10"}}));
  EXPECT_FALSE(holds("cores > 10", {{"cores", "10"}}));
  EXPECT_TRUE(holds("ghz < 2.5", {{"ghz", "2.49"}}));
  EXPECT_FALSE(holds("cores > 9", {{"cores", "many"}}));
  EXPECT_FALSE(holds("cores < 9", {{"cores", ""}}));
  EXPECT_FALSE(holds("cores < 9", {{"cores", "8x"}}));
}

TEST(Meets, MissingAttributeMeetsOnlyNegations) {
  for (const char* text : {"a = b", "a < 1", "a > 1", "a in (b)", "a exists"})
    EXPECT_FALSE(holds(text, {})) << text;
  for (const char* text : {"a != b", "a not in (b)"}) EXPECT_TRUE(holds(text, {})) << text;
}

RC_GTEST_PROP(ParseConstraint, NeverCrashesAndReadsWhatItDescribes, (const std::string& tail)) {
  const auto head =
      *rc::gen::element<std::string>("", "a ", "a = ", "a < ", "a in (", "a not in (b,", "a exists");
  auto constraint = parseConstraint(head + tail);
  if (!constraint.ok()) return;
  auto again = parseConstraint(describe(*constraint));
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == *constraint);
}

}  // namespace tarcil::constraint_test
