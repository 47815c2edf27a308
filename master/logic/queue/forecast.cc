#include "master/logic/queue/forecast.h"

#include <algorithm>

#include "core/decide/margin.h"
#include "core/model/quality.h"
#include "core/state/glance.h"
#include "core/state/vacancy.h"

namespace tarcil {
namespace {

// Servers looked at anew with each change, while the index centres itself anew.
constexpr uint32_t kStep = 16;

Share shareOf(const PublishedState& published, const std::string& platform) {
  const auto found = published.platforms().find(platform);
  return found == published.platforms().end() ? fullShare() : found->second;
}

}  // namespace

Forecast::Forecast(const PublishedState& published, MonotonicTime now, const BucketOptions& buckets)
    : published_(published), index_(buckets) {
  everythingChanged(now);
}

void Forecast::serverChanged(ServerId server, MonotonicTime now) {
  take(server, now);
  index_.step(kStep);
}

void Forecast::everythingChanged(MonotonicTime now) {
  for (ServerId id = 0; id < published_.servers(); ++id) take(id, now);
  while (index_.step(kStep)) continue;
}

PlatformId Forecast::numberOf(const std::string& platform) {
  const auto [found, isNew] = numbers_.try_emplace(platform, static_cast<PlatformId>(platforms_.size()));
  if (isNew) platforms_.push_back(platform);
  return found->second;
}

void Forecast::take(ServerId id, MonotonicTime now) {
  const ServerUpdate& server = published_.server(id);
  if (!server.facts) return;
  const std::string& platform = server.facts->platform;
  Vacancy vacancy = vacancyOf(server.status, server.facts->rus, shareOf(published_, platform),
                              published_.settings().contention);
  vacancy.platform = numberOf(platform);
  index_.update(id, vacancy, now);
}

Admission Forecast::admissionOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead, MonotonicTime now) {
  index_.advance(now);
  // Buckets do not know what their servers are, but for their platform.
  if (!spec.placement.constraints.empty() || !spec.extras.empty()) {
    return {.verdict = Admit::kQueue, .wait = {.basis = WaitEstimate::Basis::kTooFew}, .bound = spec.maxWait};
  }
  const QualitySettings& settings = published_.settings();
  const Judging judging = judgingToWaitBy(spec, settings);
  std::vector<Newcomer> newcomers;
  double best = 0;
  for (const std::string& platform : platforms_) {
    const double factor = platformFactor(spec.profile, platform);
    best = std::max(best, factor);
    newcomers.push_back(
        newcomer(viewOn(spec.profile, shareOf(published_, platform), factor), judging, spec.rusPerTask));
  }
  const Suitor suitor{
      .newcomers = newcomers, .least = spec.target.value_or(settings.target) * best, .rus = spec.rusPerTask};
  const Wish wish{.slots = slots, .ahead = static_cast<double>(slotsAhead), .maxWait = spec.maxWait};
  // A slot that is free is enough: nobody samples for the estimate.
  return admit(index_, suitor, wish, {.headroom = 0}, matching_);
}

std::optional<WaitEstimate> Forecast::waitOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead,
                                             MonotonicTime now) {
  const Admission admission = admissionOf(spec, slots, slotsAhead, now);
  if (admission.verdict == Admit::kPlace) return std::nullopt;
  return admission.wait;
}

WallTime Forecast::startOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead, Now now) {
  const auto wait = waitOf(spec, slots, slotsAhead, now.steady);
  if (!wait) return now.wall;
  switch (wait->basis) {
    case WaitEstimate::Basis::kHistory:
      return now.wall + wait->likely;
    case WaitEstimate::Basis::kBeyondHistory:
      return now.wall + wait->mean;
    case WaitEstimate::Basis::kTooYoung:
    case WaitEstimate::Basis::kTooFew:
      break;
  }
  return kNever;
}

std::optional<Duration> Forecast::boundOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead,
                                          MonotonicTime now) {
  const Admission admission = admissionOf(spec, slots, slotsAhead, now);
  switch (admission.verdict) {
    case Admit::kPlace:
      return std::nullopt;
    case Admit::kBestThereIs:
      return Duration::zero();
    case Admit::kQueue:
      break;
  }
  return admission.bound;
}

std::vector<Forecast::NamedBucket> Forecast::buckets(MonotonicTime now) {
  index_.advance(now);
  std::vector<NamedBucket> named;
  for (BucketSummary& summary : index_.summaries()) {
    if (summary.servers == 0) continue;
    const PlatformId platform = summary.platform;
    named.push_back({std::move(summary), platforms_[platform]});
  }
  return named;
}

}  // namespace tarcil
