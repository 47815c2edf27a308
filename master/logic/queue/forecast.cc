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

// Kinds of jobs whose reach is remembered.
constexpr size_t kMaxReaches = 256;

bool isBound(const JobSpec& spec) {
  return !spec.placement.constraints.empty() || !spec.extras.empty();
}

bool has(const ServerFacts& facts, const Extras& extras) {
  return std::ranges::all_of(extras, [&facts](const auto& wanted) {
    const auto found = facts.extras.find(wanted.first);
    return found != facts.extras.end() && found->second >= wanted.second;
  });
}

Share shareOf(const PublishedState& published, const std::string& platform) {
  const auto found = published.platforms().find(platform);
  return found == published.platforms().end() ? fullShare() : found->second;
}

}  // namespace

Forecast::Forecast(const PublishedState& published, MonotonicTime now, const ForecastOptions& options)
    : published_(published), admission_(options.admission), index_(options.buckets) {
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
  const QualitySettings& settings = published_.settings();
  Judging judging = judgingToWaitBy(spec, settings);
  // Buckets know no neighbour, but what all of them are together.
  if (judging.contention == ContentionModel::kSlowdowns) judging.contention = ContentionModel::kSum;
  std::vector<Newcomer> newcomers;
  double best = 0;
  for (const std::string& platform : platforms_) {
    const double factor = platformFactor(spec.profile, platform);
    best = std::max(best, factor);
    newcomers.push_back(
        newcomer(viewOn(spec.profile, shareOf(published_, platform), factor), judging, spec.rusPerTask));
  }
  Suitor suitor{
      .newcomers = newcomers, .least = spec.target.value_or(settings.target) * best, .rus = spec.rusPerTask};
  if (isBound(spec)) suitor.reach = reachOf(spec);
  const Wish wish{.slots = slots, .ahead = static_cast<double>(slotsAhead), .maxWait = spec.maxWait};
  Admission admission = admit(index_, suitor, wish, admission_, matching_);
  // Buckets count units. That extras are free with them, nobody knows.
  if (admission.verdict == Admit::kPlace && !spec.extras.empty()) {
    admission.verdict = Admit::kQueue;
    admission.wait.basis = WaitEstimate::Basis::kTooFew;
    admission.bound = spec.maxWait;
  }
  return admission;
}

// By the units of servers, whether they take tasks now or not: others do not see what a server lacks today.
const std::vector<double>& Forecast::reachOf(const JobSpec& spec) {
  if (std::exchange(factsVersion_, published_.factsVersion()) != published_.factsVersion()) reaches_.clear();
  const Kind kind{spec.placement.constraints, spec.extras};
  const auto known = std::ranges::find(reaches_, kind, &std::pair<Kind, std::vector<double>>::first);
  if (known != reaches_.end()) return known->second;
  if (reaches_.size() == kMaxReaches) reaches_.erase(reaches_.begin());
  std::vector<double> reached(platforms_.size()), all(platforms_.size());
  for (ServerId id = 0; id < published_.servers(); ++id) {
    const auto& facts = published_.server(id).facts;
    if (!facts) continue;
    const PlatformId platform = numberOf(facts->platform);
    all[platform] += facts->rus;
    if (meets(*facts, kind.first) && has(*facts, kind.second)) reached[platform] += facts->rus;
  }
  for (size_t i = 0; i < all.size(); ++i) reached[i] = all[i] > 0 ? reached[i] / all[i] : 0;
  return reaches_.emplace_back(kind, std::move(reached)).second;
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

std::vector<Forecast::NamedBucket> Forecast::buckets(MonotonicTime now, BucketId first, size_t atMost) {
  index_.advance(now);
  std::vector<NamedBucket> named;
  for (BucketSummary& summary : index_.summaries()) {
    if (summary.bucket < first || summary.servers == 0) continue;
    if (named.size() == atMost) break;
    const PlatformId platform = summary.platform;
    named.push_back({std::move(summary), platforms_[platform]});
  }
  return named;
}

}  // namespace tarcil
