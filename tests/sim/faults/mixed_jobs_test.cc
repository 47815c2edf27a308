#include "sim/faults/mixed_jobs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/model/job_fields.h"
#include "sim/chance.h"

namespace tarcil::sim::mixed_jobs_test {

// Of containers, users, files on servers and late binding the modelled monitors know nothing.
const std::set<std::string_view> kNotModelled = {"user",
                                                 "workdir",
                                                 "input",
                                                 "output",
                                                 "error",
                                                 "container.bundle",
                                                 "container.image",
                                                 "container.rootfs",
                                                 "container.network",
                                                 "at_most_once"};

TEST(MixedJob, HasEachFieldThatAJobFileMayHave) {
  std::set<std::string_view> unusual;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const VirtualClusterOptions cluster = randomCluster(seed, {});
    Rng rng = rngFor(seed, Purpose::kWorkload);
    for (int i = 0; i < 50; ++i) {
      const MixedJob job = mixedJob(cluster, kNever + std::chrono::hours(24 * 20'000), rng);
      forEachJobField([&](const auto& field) {
        if (!field.isDefault(job.spec)) unusual.insert(field.path);
      });
    }
  }
  forEachJobField([&](const auto& field) {
    EXPECT_NE(unusual.contains(field.path), kNotModelled.contains(field.path)) << field.path;
  });
}

}  // namespace tarcil::sim::mixed_jobs_test
