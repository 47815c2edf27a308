#include "tests/support/builders.h"

namespace tarcil {
namespace {

void set(Pressure& target, Pressures pressures) {
  for (const auto& [resource, value] : pressures) {
    target[static_cast<size_t>(resource)] = static_cast<uint8_t>(value);
  }
}

}  // namespace

Pressure pressure(Pressures pressures) {
  Pressure result{};
  set(result, pressures);
  return result;
}

Profile causing(Pressures pressures) {
  Profile profile;
  profile.caused = pressure(pressures);
  profile.tolerated = toleratedFromCaused(profile.caused);
  return profile;
}

Profile tolerating(Pressures pressures) {
  return causingAndTolerating({}, pressures);
}

Profile causingAndTolerating(Pressures caused, Pressures tolerated) {
  Profile profile;
  profile.caused = pressure(caused);
  set(profile.tolerated, tolerated);
  return profile;
}

ServerBuilder::ServerBuilder(std::string name) {
  facts_.name = std::move(name);
  facts_.platform = "reference";
  facts_.rus = 4;
  status_.version = 1;
  status_.up = true;
}

ServerBuilder& ServerBuilder::rus(uint32_t count) {
  facts_.rus = count;
  return *this;
}

ServerBuilder& ServerBuilder::platform(std::string name) {
  facts_.platform = std::move(name);
  return *this;
}

ServerBuilder& ServerBuilder::rack(std::string name) {
  facts_.rack = std::move(name);
  return *this;
}

ServerBuilder& ServerBuilder::attribute(std::string name, std::string value) {
  facts_.attributes[std::move(name)] = std::move(value);
  return *this;
}

ServerBuilder& ServerBuilder::extra(std::string kind, uint32_t count) {
  facts_.extras[std::move(kind)] = count;
  return *this;
}

ServerBuilder& ServerBuilder::memory(uint64_t bytes) {
  facts_.memoryBytes = bytes;
  return *this;
}

ServerBuilder& ServerBuilder::disk(uint64_t bytes) {
  facts_.diskBytes = bytes;
  return *this;
}

ServerBuilder& ServerBuilder::background(Pressures pressures) {
  status_.background = pressure(pressures);
  return *this;
}

ServerBuilder& ServerBuilder::holding(const Profile& profile, uint32_t units, const Extras& extras,
                                      const ByteResources& bytes) {
  const AllocationId allocation = residents_.size() + 1;
  const ServerStatus before = status();
  residents_.push_back({allocation, before.free.first(units), profile.caused, profile.tolerated,
                        lowestExtras(before.freeExtras, extras), ByteRequest{bytes, units}});
  return *this;
}

ServerBuilder& ServerBuilder::strictly() {
  residents_.back().isStrict = true;
  return *this;
}

ServerBuilder& ServerBuilder::down() {
  status_.up = false;
  return *this;
}

ServerBuilder& ServerBuilder::cordoned() {
  status_.cordoned = true;
  return *this;
}

ServerBuilder& ServerBuilder::removed() {
  status_.up = false;
  status_.removed = true;
  return *this;
}

ServerStatus ServerBuilder::status() const {
  ServerStatus status = status_;
  rebuild(status, residents_, facts_, fullShare());
  return status;
}

ClusterState aCluster(const std::vector<ServerBuilder>& servers) {
  ClusterState state;
  for (ServerId id = 0; id < servers.size(); ++id) state.apply(servers[id].update(id));
  return state;
}

JobSpec aJob(uint32_t tasks, const Profile& profile) {
  JobSpec spec;
  spec.name = "job";
  spec.command = {"true"};
  spec.tasks = tasks;
  spec.profile = profile;
  return spec;
}

PlacementRequest placing(const JobSpec& spec) {
  PlacementRequest request{spec, {}, {}, Standard::kAcceptable};
  for (TaskIndex task = 0; task < spec.tasks; ++task) request.tasks.push_back({task, 0});
  return request;
}

}  // namespace tarcil
