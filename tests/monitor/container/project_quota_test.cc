// Numbers and sizes of project quotas. Quotas themselves: ContainerDiskTest, in a virtual machine.
#include "monitor/container/project_quota.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/support/scratch_folder.h"

namespace tarcil::project_quota_test {

TEST(TaskProject, HasANumberThatNoAdministratorUses) {
  for (const uint32_t others : {0u, 1u, 65'536u, 0x7fff'ffffu, UINT32_MAX})
    EXPECT_FALSE(isTaskProject(others));
  Rng rng(1);
  std::set<uint32_t> drawn;
  for (int i = 0; i < 1'000; ++i) drawn.insert(drawTaskProject(rng));
  for (const uint32_t project : drawn) EXPECT_TRUE(isTaskProject(project)) << project;
  EXPECT_EQ(drawn.size(), 1'000u);
}

TEST(QuotaFor, IsWhatATaskMayTakeUpBesideItsFolders) {
  EXPECT_EQ(quotaFor(2 << 20, {8192, 2}), (ProjectSpace{(2 << 20) + 8192, 512 + 2}));
  EXPECT_EQ(quotaFor(uint64_t{1} << 40, {}), (ProjectSpace{uint64_t{1} << 40, 1 << 28}));
}

TEST(QuotaFor, IsRoundedDownButNeverToNone) {
  EXPECT_EQ(quotaFor(10'000, {0, 2}), (ProjectSpace{9'216, 4}));
  EXPECT_EQ(quotaFor(1, {}), (ProjectSpace{1024, 1}));
}

TEST(ProjectQuotas, AreNotThereWhereTheFolderIsNot) {
  const ScratchFolder folder;
  const auto quotas = ProjectQuotas::open(folder.at("none"));
  ASSERT_FALSE(quotas.ok());
  EXPECT_EQ(quotas.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(quotas.error().message, testing::HasSubstr("none': No such file or directory"));
}

}  // namespace tarcil::project_quota_test
