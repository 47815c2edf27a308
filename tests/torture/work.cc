#include "tests/torture/work.h"

#include <cstring>
#include <iterator>

#include "core/model/job_size.h"

namespace tarcil::torture {
namespace {

bool chance(Rng& rng, uint64_t oneIn) {
  return rng.below(oneIn) == 0;
}

uint8_t pressureBelow(Rng& rng, uint64_t bound) {
  return static_cast<uint8_t>(rng.below(bound));
}

Profile randomProfile(Rng& rng, uint32_t rusPerTask) {
  Profile profile;
  for (size_t i = 0; i < profile.caused.size(); ++i) {
    profile.caused[i] = pressureBelow(rng, 12);
    profile.tolerated[i] = static_cast<uint8_t>(kMaxPressure - pressureBelow(rng, 40));
  }
  profile.caused[static_cast<size_t>(Resource::kCore)] = static_cast<uint8_t>(rusPerTask);
  return profile;
}

uint64_t versionToName(Rng& rng, uint64_t seen) {
  switch (rng.below(10)) {
    case 0:
      return 0;
    case 1:
      return seen - rng.below(5);
    case 2:
      return seen + rng.below(5);
    default:
      return seen;
  }
}

// Mostly one that has room as far as is known.
ServerId chooseServer(Rng& rng, uint32_t rus, const SeenServers& servers) {
  if (servers.empty() || chance(rng, 50)) return static_cast<ServerId>(rng.below(100));
  auto chosen = servers.begin();
  for (int tries = 0; tries < 4; ++tries) {
    chosen = std::next(servers.begin(), static_cast<ptrdiff_t>(rng.below(servers.size())));
    if (chosen->second.status.free.size() >= rus) break;
  }
  return chosen->first;
}

}  // namespace

Commit newJob(Rng& rng) {
  Commit commit;
  for (size_t i = 0; i < commit.job.bytes.size(); i += 8) {
    const uint64_t random = rng();
    std::memcpy(commit.job.bytes.data() + i, &random, sizeof random);
  }
  NewJob& job = commit.newJob.emplace();
  job.record.id = commit.job;
  job.record.user = job.record.runAs = chance(rng, 2) ? "ada" : "bob";
  job.record.submitted = WallTime(Duration(1));
  JobSpec& spec = job.record.spec;
  spec.name = "torture";
  spec.command = {"true"};
  spec.tasks = 1 + static_cast<uint32_t>(rng.below(6));
  spec.rusPerTask = 1 + static_cast<uint32_t>(rng.below(chance(rng, 3) ? 8 : 3));
  spec.schedule = chance(rng, 2) ? Schedule::kGang : Schedule::kIncremental;
  spec.profile = randomProfile(rng, spec.rusPerTask);
  spec.restart.attempts = static_cast<uint32_t>(rng.below(3));
  spec.restart.backoff = Duration(1'000);
  spec.restart.onLost = !chance(rng, 3);
  if (chance(rng, 20)) {
    job.record.hasFiles = true;
    job.files = std::make_shared<const std::vector<InputFile>>(
        std::vector<InputFile>{{"input", 0644, "what the tasks read"}});
    job.record.fileBytes = sizeOf(*job.files);
  }
  return commit;
}

void addClaims(Rng& rng, const JobSpec& spec, const std::vector<Waiting>& waiting, const SeenServers& servers,
               Commit& commit) {
  commit.gang = spec.schedule == Schedule::kGang;
  for (const Waiting& task : waiting) {
    if (!commit.gang && chance(rng, 4)) continue;  // left for the next commit
    Claim& claim = commit.claims.emplace_back();
    claim.task = task.task;
    claim.attempt = task.attempt + (chance(rng, 60) ? 1 : 0);
    claim.server = chooseServer(rng, spec.rusPerTask, servers);
    claim.rus = spec.rusPerTask;
    claim.preferred = {static_cast<RuIndex>(rng.below(20)), static_cast<RuIndex>(rng.below(20))};
    const auto seen = servers.find(claim.server);
    claim.versionSeen = seen == servers.end() ? 0 : versionToName(rng, seen->second.status.version);
    claim.floor = 0.7 * rng.unit();
    claim.q = claim.s = 1;
  }
  commit.explanation.wanted = static_cast<uint32_t>(commit.claims.size());
  if (commit.claims.size() < waiting.size()) commit.waitReason = "left for the next commit";
}

}  // namespace tarcil::torture
