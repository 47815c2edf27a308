#include "master/logic/jobs/profiles.h"

#include <algorithm>
#include <utility>

#include "core/base/names.h"
#include "master/logic/jobs/observed_profiles.h"
#include "master/logic/jobs/profiling.h"
#include "master/logic/jobs/rejudging.h"

namespace tarcil::master {
namespace {

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

Status check(const ProfileStored& event) {
  if (Status named = checkApplication(event.profile.application); !named) return named;
  if (const size_t platforms = event.profile.platforms.size(); platforms > kMaxProfilePlatforms) {
    return invalid("platforms: there are " + std::to_string(platforms) + "; write at most " +
                   std::to_string(kMaxProfilePlatforms));
  }
  for (const auto& [platform, factor] : event.profile.platforms) {
    if (Status named = checkName("platforms", platform); !named) return named;
    if (factor > 0 && factor <= 1) continue;
    return invalid("platforms: " + platform + ": " + std::to_string(factor) +
                   " is out of range; write a number above 0 and at most 1");
  }
  if (event.note.size() > kMaxNoteBytes) {
    return invalid("note: it has " + std::to_string(event.note.size()) + " bytes; write at most " +
                   std::to_string(kMaxNoteBytes));
  }
  return {};
}

// O(profiles), which kMaxStoredProfiles bounds.
size_t storedBy(const Profiles& profiles, const std::string& user) {
  return static_cast<size_t>(
      std::ranges::count_if(profiles, [&user](const auto& entry) { return entry.second.user == user; }));
}

// Whether there is room for another one.
Status requireRoomFor(const Profiles& profiles, const Caller& caller) {
  const auto refused = [](const std::string& most) {
    return Error{ErrorCode::kExhausted, most + "; delete some with `tarcil profile delete`"};
  };
  if (profiles.size() >= kMaxStoredProfiles) {
    return refused(std::to_string(profiles.size()) + " profiles are stored, which is the most there may be");
  }
  if (caller.role == Role::kOperate || storedBy(profiles, caller.user) < kMaxStoredProfilesOfUser) return {};
  return refused("user " + caller.user + " has stored " + std::to_string(kMaxStoredProfilesOfUser) +
                 " profiles, as many as one user may");
}

Status mayChange(const Caller& caller, const StoredProfile& stored) {
  if (caller.role == Role::kOperate || caller.user == stored.user) return {};
  return denied("the profile of " + quoted(stored.profile.application) + " was stored by user " +
                stored.user + ": only that user and operators may change it; store yours under another name");
}

}  // namespace

Status checkApplication(const std::string& application) {
  const size_t at = application.find('@');
  if (Status named = checkName("application", application.substr(0, at)); !named) return named;
  return at == std::string::npos ? Status() : checkName("version of application", application.substr(at + 1));
}

Status storeProfile(EventContext& context, const ProfileStored& event) {
  if (Status good = check(event); !good) return good;
  Profiles& profiles = context.tables.profiles;
  const auto found = profiles.find(event.profile.application);
  if (found == profiles.end()) {
    if (Status fits = requireRoomFor(profiles, event.caller); !fits) return fits;
  }
  if (found != profiles.end()) {
    if (Status allowed = mayChange(event.caller, found->second); !allowed) return allowed;
  }
  StoredProfile stored{.profile = event.profile,
                       .user = found == profiles.end() ? event.caller.user : found->second.user,
                       .stored = context.now.wall,
                       .revision = found == profiles.end() ? 1 : found->second.revision + 1,
                       .note = event.note};
  stored.profile.isAssumed = false;
  context.out.put(stored);
  profiles[event.profile.application] = std::move(stored);
  forgetFailedProfiling(context, event.profile.application);
  noteLearnedForAll(context, event.profile.application);
  return {};
}

Status deleteProfile(EventContext& context, const ProfileDeleted& event) {
  Profiles& profiles = context.tables.profiles;
  const auto found = profiles.find(event.application);
  const bool wasObserved = forgetObserved(context, event.application, event.caller.user);
  if (found == profiles.end() && wasObserved) return {};
  if (found == profiles.end()) {
    const auto vain = context.tables.profilings.find(event.application);
    if (vain != context.tables.profilings.end() && !maySteer(event.caller, vain->second.user)) {
      return denied(quoted(event.application) + " was measured for user " + vain->second.user +
                    ": only that user and operators may have it measured again");
    }
    if (forgetFailedProfiling(context, event.application)) return {};
    return Error{ErrorCode::kNotFound, "no profile of " + quoted(event.application) +
                                           " is stored; `tarcil profile list` shows those that are"};
  }
  if (Status allowed = mayChange(event.caller, found->second); !allowed)
    return wasObserved ? Status() : allowed;
  context.out.erase(EraseProfile{event.application});
  profiles.erase(found);
  noteLearnedForAll(context, event.application);
  return {};
}

const StoredProfile* findProfile(const Profiles& profiles, const std::string& application) {
  auto found = profiles.find(application);
  if (found == profiles.end()) found = profiles.find(application.substr(0, application.find('@')));
  return found == profiles.end() ? nullptr : &found->second;
}

}  // namespace tarcil::master
