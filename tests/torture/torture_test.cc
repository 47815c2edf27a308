// A short torture of a real master, which the checker has nothing against. Long ones: scripts/torture.sh.
#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::torture_test {

TEST(Torture, OfAMasterBreaksNoPromise) {
  const TemporaryFolder folder;
  const ProcessResult torture =
      runProcess({TARCIL_TORTURE, "--folder", folder.path(), "--seconds", "4", "--seed", "1"}, {});
  ASSERT_EQ(torture.exitCode, 0) << torture.err;
  const ProcessResult check =
      runProcess({TARCIL_TORTURE_CHECK, folder.path() + "/history", folder.path() + "/store"}, {});
  EXPECT_EQ(check.exitCode, 0) << check.out << check.err;
}

}  // namespace tarcil::torture_test
