#include "master/logic/jobs/follower_table.h"

namespace tarcil::master {
namespace {

ApplicationOfUser groupOf(const JobRecord& job) {
  return {job.spec.profile.application, job.user};
}

}  // namespace

void FollowerTable::add(const JobRecord& job) {
  if (job.spec.profileLookedUp) groups_[groupOf(job)].jobs.emplace(job.submitted, job.id);
}

void FollowerTable::erase(const JobRecord& job) {
  if (!job.spec.profileLookedUp) return;
  const auto group = groups_.find(groupOf(job));
  group->second.jobs.erase({job.submitted, job.id});
  if (!group->second.jobs.empty()) return;
  setDue(*group, std::nullopt);
  groups_.erase(group);
}

FollowerTable::Group* FollowerTable::find(const ApplicationOfUser& whose) {
  const auto group = groups_.find(whose);
  return group == groups_.end() ? nullptr : &*group;
}

std::vector<FollowerTable::Group*> FollowerTable::ofApplication(const std::string& application) {
  std::vector<Group*> found;
  auto group = groups_.lower_bound({application, ""});
  for (; group != groups_.end() && group->first.application == application; ++group) found.push_back(&*group);
  const std::string versions = application + "@";
  group = groups_.lower_bound({versions, ""});
  for (; group != groups_.end() && group->first.application.starts_with(versions); ++group) {
    found.push_back(&*group);
  }
  return found;
}

void FollowerTable::setDue(Group& group, std::optional<MonotonicTime> when) {
  auto& [whose, followers] = group;
  if (followers.due) due_.erase({*followers.due, whose});
  followers.due = when;
  if (when) due_.emplace(*when, whose);
}

FollowerTable::Group* FollowerTable::dueBy(MonotonicTime now) {
  return due_.empty() || due_.begin()->first > now ? nullptr : find(due_.begin()->second);
}

std::optional<MonotonicTime> FollowerTable::nextDue() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace tarcil::master
