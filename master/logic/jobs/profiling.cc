#include "master/logic/jobs/profiling.h"

#include <algorithm>

#include "master/logic/jobs/profiles.h"

namespace tarcil::master {
namespace {

// Cut to what is kept, and on one line: part of it may be the words of a command that nobody trusts.
std::string asProblem(std::string text) {
  if (text.size() > kMaxProblemBytes) text = text.substr(0, kMaxProblemBytes - 3) + "...";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  }
  return text.empty() ? "nobody knows why" : text;
}

std::string noteOf(const Tables& tables, const TaskRecord& task) {
  const Server* server = tables.servers.find(task.server);
  std::string note = "measured on " + task.server;
  if (server != nullptr) note += ", platform " + server->record.facts.platform;
  return note.substr(0, kMaxNoteBytes);
}

Error failed(std::string why) {
  return {ErrorCode::kInternal, std::move(why)};
}

// Stores what the job measured, or says why there is nothing to store.
Status storeMeasured(EventContext& context, const Job& job, RunState state) {
  const std::string& application = job.record.spec.measures;
  const Profiles& profiles = context.tables.profiles;
  if (profiles.contains({"", application}) || profiles.contains({job.record.user, application})) return {};
  const std::optional<Measurement>& measured = job.changes.measured;
  const std::string said = measured ? measured->problem : "";
  if (state != RunState::kDone) {
    return failed(job.progress.reason + (said.empty() ? "" : ": " + said));
  }
  if (!measured)
    return failed("its server does not say what was measured: is the monitor of an older version?");
  if (!said.empty()) return failed(said);
  ProfileStored event{.request = 0,
                      .caller = {.user = job.record.user, .role = Role::kSubmit, .runAs = {}},
                      .profile = measured->profile,
                      .note = noteOf(context.tables, job.tasks[0])};
  event.profile.application = application;
  return storeProfile(context, event);
}

}  // namespace

std::string whyNotMeasure(const EventContext& context, const JobRecord& record) {
  const Tables& tables = context.tables;
  const std::string& application = record.spec.measures;
  if (application.empty()) return "";
  if (Status named = checkApplication(application); !named) return named.error().message;
  if (record.spec.tasks != 1) return "measures: takes a job of one task";
  if (!tables.settings.profileUnknown) {
    return "this cluster measures no application by itself; `tarcil tune --profile-unknown true` has it do "
           "so";
  }
  if (findProfile(tables.profiles, application, record.user) != nullptr) {
    return "a profile of " + application + " is stored";
  }
  const auto found = tables.profilings.find(application);
  if (found == tables.profilings.end()) {
    const auto ofUser = static_cast<size_t>(std::ranges::count_if(
        tables.profilings, [&record](const auto& entry) { return entry.second.user == record.user; }));
    if (tables.profilings.size() < kMaxStoredProfiles && ofUser < kMaxStoredProfilesOfUser) return "";
    return "too many applications are being measured or could not be; forget some with `tarcil profile "
           "delete`";
  }
  if (found->second.isUnderWay()) {
    return application + " is being measured by job " + toString(found->second.job);
  }
  if (context.now.wall - found->second.at >= kProfilingInterval) return "";
  return "measuring " + application + " failed within the last hour; `tarcil profile list` shows why, and" +
         " `tarcil profile delete` has it measured again";
}

void beginProfiling(EventContext& context, const JobRecord& record) {
  const std::string& application = record.spec.measures;
  if (application.empty()) return;
  Profiling& profiling = context.tables.profilings[application];
  profiling = {.application = application, .job = record.id, .user = record.user, .at = context.now.wall};
  context.out.put(profiling);
}

void endProfiling(EventContext& context, const Job& job, RunState state) {
  const std::string& application = job.record.spec.measures;
  Profilings& profilings = context.tables.profilings;
  const auto found = profilings.find(application);
  if (found == profilings.end() || found->second.job != job.record.id) return;
  const Status stored = storeMeasured(context, job, state);
  if (stored.ok()) {
    context.out.erase(EraseProfiling{application});
    profilings.erase(found);
    return;
  }
  found->second.at = context.now.wall;
  found->second.problem = asProblem(stored.error().message);
  context.out.put(found->second);
}

bool forgetFailedProfiling(EventContext& context, const std::string& application) {
  Profilings& profilings = context.tables.profilings;
  const auto found = profilings.find(application);
  if (found == profilings.end() || found->second.isUnderWay()) return false;
  context.out.erase(EraseProfiling{application});
  profilings.erase(found);
  return true;
}

}  // namespace tarcil::master
