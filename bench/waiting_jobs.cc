// Question: what does the master's queue cost when very many jobs wait?
//
//   waiting_jobs [--jobs N] [--users U] [--kinds K]
//
// Jobs of U users, three priorities and K kinds wait. Each line is the mean of many calls.
#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/report.h"
#include "core/base/rng.h"
#include "master/logic/queue/waiting_queue.h"

namespace tarcil::bench {
namespace {

using master::QueueKey;
using master::UserNumber;
using master::WaitingQueue;

struct Flags {
  uint32_t jobs = 100'000, users = 100, classes = 20;
};

void time(const char* what, uint32_t calls, const std::function<void(uint32_t)>& call) {
  const auto begin = Steady::now();
  for (uint32_t i = 0; i < calls; ++i) call(i);
  std::printf("%-62s %9.3f us\n", what, milliseconds(Steady::now() - begin) * 1e3 / calls);
}

int measure(const Flags& flags) {
  printConditions();
  std::printf("%u jobs of %u users, 3 priorities, %u kinds\n", flags.jobs, flags.users, flags.classes);
  Rng rng(1);
  WaitingQueue queue(std::chrono::minutes(10));
  std::vector<UserNumber> users;
  for (uint32_t i = 0; i < flags.users; ++i) users.push_back(queue.order().numberOf(std::to_string(i)));
  std::vector<QueueKey> index;
  for (uint32_t i = 0; i < flags.jobs; ++i) {
    QueueKey key{.user = users[rng.below(users.size())],
                 .priority = static_cast<uint8_t>(20 + 30 * rng.below(3)),
                 .equivalenceClass = rng.below(flags.classes),
                 .submitted = WallTime(std::chrono::milliseconds(i)),
                 .job = {}};
    const std::array<uint64_t, 2> random{rng(), rng()};
    std::memcpy(key.job.bytes.data(), random.data(), sizeof random);
    index.push_back(key);
  }
  time("a job comes", flags.jobs, [&](uint32_t i) { queue.put(index[i], true); });
  time("a job leaves and comes again", flags.jobs, [&](uint32_t i) {
    queue.erase(index[i]);
    queue.put(index[i], true);
  });
  time("a task of a user starts: the user's lines are ordered anew", 100'000,
       [&](uint32_t) { queue.order().addUnits(users[rng.below(users.size())], 1); });
  time("what is pending is asked for", 10'000, [&](uint32_t) { queue.pendingPriority(kNever); });
  const auto anybody = [](const JobId&) { return WaitingQueue::Candidate{.whoTries = 1, .units = 1}; };
  std::map<JobId, QueueKey> queueKeyOf;
  for (const QueueKey& key : index) queueKeyOf[key.job] = key;
  uint64_t given = 0, changes = 0;
  const auto failAllAttempts = [&](uint32_t) {
    ++changes;
    queue.wakeAll();
    for (auto offers = queue.offerJobs(32, anybody); !offers.empty(); offers = queue.offerJobs(32, anybody)) {
      given += offers.size();
      for (const auto& offer : offers) queue.noteFailedAttempt(queueKeyOf.at(offer.job));
      queue.endOffers();
    }
  };
  time("capacity appears, and no job finds a slot: all offers", 100, failAllAttempts);
  std::printf("%-62s %9.1f\n", "... of which there are",
              static_cast<double>(given) / static_cast<double>(changes));
  time("the first hundred are listed", 1'000, [&](uint32_t) {
    uint32_t left = 100;
    queue.order().walk(
        [&left](const QueueKey&) { return left-- > 0 ? std::optional<uint64_t>(1) : std::nullopt; });
  });
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  tarcil::bench::Flags flags;
  CLI::App app("Measures the master's queue of waiting jobs.");
  app.add_option("--jobs", flags.jobs, "Jobs that wait.")->capture_default_str();
  app.add_option("--users", flags.users, "Users.")->capture_default_str();
  app.add_option("--kinds", flags.classes, "Kinds of jobs.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tarcil::bench::measure(flags);
}
