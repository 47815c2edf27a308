#include "lsh/bucket_index.h"

#include <algorithm>
#include <cstdlib>

namespace tarcil {

BucketIndex::BucketIndex(const BucketOptions& options)
    : options_(options),
      planes_(options.buckets, options.seed),
      histories_(1, FlowHistory(options.window, options.interval)) {}

void BucketIndex::makeRoom(PlatformId platform) {
  platforms_.resize(platform + size_t{1});
  buckets_.resize(platforms_.size() * perPlatform());
  withFree_.resize(buckets_.size(), kNobody);
  while (means_.size() < buckets_.size()) {
    Vacancy mean;
    mean.platform = platformOf(static_cast<BucketId>(means_.size()));
    mean.free = mean.rus = UINT16_MAX;
    mean.slack.fill(Vacancy::kUnbounded);
    means_.push_back(mean);
  }
  for (FlowHistory& history : histories_) history.grow(buckets_.size());
}

void BucketIndex::reformMean(BucketId bucket) {
  means_[bucket].contention = buckets_[bucket].mean();
  means_[bucket].usable = buckets_[bucket].servers() > 0;
}

BucketId BucketIndex::bucketFor(PlatformId platform, const Pressure& contention) const {
  return platform * perPlatform() + planes_.bucketOf(contention, platforms_[platform].offsets);
}

void BucketIndex::list(Record& record) {
  if (record.free == 0) return;
  ServerId& first = withFree_[record.bucket];
  const auto server = static_cast<ServerId>(&record - records_.data());
  record.previous = kNobody;
  record.next = first;
  if (first != kNobody) records_[first].previous = server;
  first = server;
}

void BucketIndex::unlist(Record& record) {
  if (record.free == 0) return;
  (record.previous == kNobody ? withFree_[record.bucket] : records_[record.previous].next) = record.next;
  if (record.next != kNobody) records_[record.next].previous = record.previous;
}

void BucketIndex::addWithFree(BucketId bucket, std::vector<ServerId>& servers) const {
  for (ServerId id = withFree_[bucket]; id != kNobody; id = records_[id].next) servers.push_back(id);
}

void BucketIndex::enter(Record& record, PlatformId platform, BucketId bucket) {
  record.bucket = bucket;
  buckets_[bucket].enter(record.member());
  list(record);
  reformMean(bucket);
  Platform& its = platforms_[platform];
  for (size_t i = 0; i < kResources; ++i) its.sum[i] += record.contention[i];
  ++its.servers;
  ++servers_;
  free_ += record.free;
}

void BucketIndex::leave(Record& record) {
  unlist(record);
  buckets_[record.bucket].leave(record.member());
  reformMean(record.bucket);
  Platform& its = platforms_[platformOf(record.bucket)];
  for (size_t i = 0; i < kResources; ++i) its.sum[i] -= record.contention[i];
  --its.servers;
  --servers_;
  free_ -= record.free;
  record.bucket = kNowhere;
}

void BucketIndex::update(ServerId server, const Vacancy& vacancy, MonotonicTime now) {
  if (!vacancy.usable) return remove(server);
  if (server >= records_.size()) records_.resize(server + size_t{1});
  if (vacancy.platform >= platforms_.size()) makeRoom(vacancy.platform);
  // An agent may know a state before the facts that go with it: of fewer units than are free.
  makeHistories(std::max(vacancy.rus, vacancy.free), now);
  advance(now);
  Record& record = records_[server];
  const BucketId from = record.bucket;
  const uint16_t before = record.free;
  if (from != kNowhere) leave(record);
  const BucketMember member = bucketMember(vacancy);
  record.contention = member.contention;
  record.free = member.free;
  record.slackLevels = member.slackLevels;
  const BucketId to = bucketFor(vacancy.platform, vacancy.contention);
  enter(record, vacancy.platform, to);
  if (from == kNowhere) return;
  // What was free and still is has moved with its server; what is free besides was given back.
  for (size_t size = 0; (member.free >> size) > 0; ++size) {
    const int32_t slots = member.free >> size;
    histories_[size].add(from, -std::min(before >> size, slots));
    histories_[size].add(to, slots);
  }
}

void BucketIndex::remove(ServerId server) {
  if (server < records_.size() && records_[server].bucket != kNowhere) leave(records_[server]);
}

std::optional<Centre> BucketIndex::mean(const Platform& platform) const {
  if (platform.servers == 0) return std::nullopt;
  Centre mean{};
  for (size_t i = 0; i < kResources; ++i) {
    mean[i] = static_cast<int32_t>(platform.sum[i] * kCentreUnit / platform.servers);
  }
  return mean;
}

bool BucketIndex::drifted() const {
  return std::any_of(platforms_.begin(), platforms_.end(), [this](const Platform& platform) {
    const std::optional<Centre> now = mean(platform);
    for (size_t i = 0; now && i < kResources; ++i) {
      if (std::abs((*now)[i] - platform.centre[i]) > options_.drift * kCentreUnit) return true;
    }
    return false;
  });
}

void BucketIndex::recentre() {
  for (Platform& platform : platforms_) {
    if (const std::optional<Centre> now = mean(platform)) platform.centre = *now;
    platform.offsets = planes_.offsets(platform.centre);
  }
  next_ = 0;
}

bool BucketIndex::step(uint32_t budget) {
  if (next_ == kDone && drifted()) recentre();
  for (; budget > 0 && next_ < records_.size(); --budget, ++next_) {
    Record& record = records_[next_];
    if (record.bucket == kNowhere) continue;
    const BucketId to = bucketFor(platformOf(record.bucket), record.contention);
    if (to == record.bucket) continue;
    unlist(record);
    buckets_[record.bucket].leave(record.member());
    buckets_[to].enter(record.member());
    reformMean(record.bucket);
    reformMean(to);
    record.bucket = to;
    list(record);
  }
  if (next_ >= records_.size()) next_ = kDone;
  return next_ != kDone;
}

std::optional<BucketId> BucketIndex::bucketOf(ServerId server) const {
  if (server >= records_.size() || records_[server].bucket == kNowhere) return std::nullopt;
  return records_[server].bucket;
}

void BucketIndex::advance(MonotonicTime now) {
  for (FlowHistory& history : histories_) history.advance(now);
}

void BucketIndex::makeHistories(uint16_t rus, MonotonicTime now) {
  while ((rus >> histories_.size()) > 0) {
    histories_.emplace_back(options_.window, options_.interval).grow(buckets_.size());
    histories_.back().advance(now);
  }
}

std::vector<BucketSummary> BucketIndex::summaries() const {
  std::vector<BucketSummary> found;
  const double hours = std::chrono::duration<double, std::ratio<3600>>(history().interval()).count() *
                       static_cast<double>(history().closed());
  for (BucketId id = 0; id < buckets_.size(); ++id) {
    const Bucket& bucket = buckets_[id];
    const int64_t entered = history().total(id);
    if (bucket.servers() == 0 && entered == 0) continue;
    found.push_back({id, platformOf(id), bucket.servers(), bucket.free(), bucket.mean(),
                     hours > 0 ? static_cast<double>(entered) / hours : 0});
  }
  return found;
}

}  // namespace tarcil
