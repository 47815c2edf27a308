#include "formats/extras_field.h"

#include <gtest/gtest.h>

namespace tarcil::extras_field_test {

std::string problemOf(std::string_view argument, Extras extras = {}) {
  const Status status = addExtra(argument, extras);
  return status.ok() ? "" : status.error().message;
}

TEST(ExtrasInArguments, AreAddedKindByKind) {
  Extras extras;
  EXPECT_TRUE(addExtra("gpus=4", extras).ok());
  EXPECT_TRUE(addExtra("tape.v1=4096", extras).ok());
  EXPECT_EQ(extras, (Extras{{"gpus", 4}, {"tape.v1", 4096}}));
}

TEST(ExtrasInArguments, SayWhatToWriteInstead) {
  for (const char* wrong : {"gpus=0", "gpus=4097", "gpus=", "gpus=-1", "gpus=4x", "gpus=4=5"}) {
    EXPECT_NE(problemOf(wrong).find("write a whole number from 1 to 4096"), std::string::npos) << wrong;
  }
  EXPECT_EQ(problemOf("gpus"), "'gpus' is no pair; write KIND=COUNT, for example gpus=4");
  EXPECT_EQ(problemOf("=4"), "'': a kind's name has letters, digits, dots, dashes or underscores; rename it");
  EXPECT_EQ(problemOf("gpus=2", {{"gpus", 1}}), "'gpus' is given twice; keep one");
  EXPECT_EQ(problemOf("t_1=1", {{"t-1", 1}}),
            "'t_1': gives tasks the same variable TARCIL_EXTRA_T_1 as 't-1'; rename one");
}

}  // namespace tarcil::extras_field_test
