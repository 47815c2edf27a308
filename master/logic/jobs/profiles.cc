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

void put(EventContext& context, StoredProfile stored) {
  const std::string application = stored.profile.application;
  stored.profile.isAssumed = false;
  context.out.put(stored);
  std::pair key{stored.owner(), application};
  context.tables.profiles[std::move(key)] = std::move(stored);
  forgetFailedProfiling(context, application);
  noteLearnedForAll(context, application);
}

void erase(EventContext& context, Profiles::iterator found) {
  const std::string application = found->second.profile.application;
  context.out.erase(EraseProfile{application, found->second.owner()});
  context.tables.profiles.erase(found);
  noteLearnedForAll(context, application);
}

}  // namespace

Status checkApplication(const std::string& application) {
  const size_t at = application.find('@');
  if (Status named = checkName("application", application.substr(0, at)); !named) return named;
  return at == std::string::npos ? Status() : checkName("version of application", application.substr(at + 1));
}

Status storeProfile(EventContext& context, const ProfileStored& event) {
  if (Status good = check(event); !good) return good;
  StoredProfile stored{.profile = event.profile,
                       .user = event.caller.user,
                       .stored = context.now.wall,
                       .note = event.note,
                       .isOwn = event.caller.role != Role::kOperate};
  const Profiles& profiles = context.tables.profiles;
  const auto found = profiles.find({stored.owner(), event.profile.application});
  if (found == profiles.end()) {
    if (Status fits = requireRoomFor(profiles, event.caller); !fits) return fits;
  } else {
    stored.user = found->second.user;
    stored.revision = found->second.revision + 1;
  }
  put(context, std::move(stored));
  return {};
}

Status deleteProfile(EventContext& context, const ProfileDeleted& event) {
  Profiles& profiles = context.tables.profiles;
  const std::string& user = event.user.empty() ? event.caller.user : event.user;
  if (!maySteer(event.caller, user)) {
    return denied("the profiles of user " + user + " are for that user and for operators to delete");
  }
  const auto own = profiles.find({user, event.application}), forAll = profiles.find({"", event.application});
  const bool wasObserved = forgetObserved(context, event.application, user);
  if (own != profiles.end()) {
    erase(context, own);
    return {};
  }
  if (!event.user.empty() || forAll == profiles.end()) {
    if (wasObserved) return {};
    const auto vain = context.tables.profilings.find(event.application);
    if (vain != context.tables.profilings.end() && !maySteer(event.caller, vain->second.user)) {
      return denied(quoted(event.application) + " was measured for user " + vain->second.user +
                    ": only that user and operators may have it measured again");
    }
    if (forgetFailedProfiling(context, event.application)) return {};
    return Error{ErrorCode::kNotFound, "no profile of " + quoted(event.application) + " is stored" +
                                           (event.user.empty() ? "" : " for user " + user + " alone") +
                                           "; `tarcil profile list` shows those that are"};
  }
  if (event.caller.role != Role::kOperate) {
    if (wasObserved) return {};
    return denied("the profile of " + quoted(event.application) +
                  " counts for all: only operators may delete it; what you store counts for your own jobs");
  }
  erase(context, forAll);
  return {};
}

Status promoteProfile(EventContext& context, const ProfilePromoted& event) {
  const std::string& user = event.user.empty() ? event.caller.user : event.user;
  if (!maySteer(event.caller, user)) {
    return denied("what is known of user " + user + " is for that user and for operators to promote");
  }
  Profiles& profiles = context.tables.profiles;
  const bool isByOperator = event.caller.role == Role::kOperate;
  const ObservedProfile* observed = findObserved(context.tables.observed, event.application, user);
  const bool isBelieved = observed != nullptr && observed->isBelieved();
  const auto own = profiles.find({user, event.application}), forAll = profiles.find({"", event.application});
  if (!isBelieved && (own == profiles.end() || !isByOperator)) {
    return Error{ErrorCode::kNotFound, "of " + event.application + ", " +
                                           std::to_string(observed ? observed->runs() : 0) +
                                           " runs by user " + user + " were measured, and it takes " +
                                           std::to_string(kRunsToBelieve) +
                                           "; a run counts once a monitor has measured it for some seconds"};
  }
  const StoredProfile* base = own != profiles.end()      ? &own->second
                              : forAll != profiles.end() ? &forAll->second
                                                         : nullptr;
  const Profile profile = knownProfile(base, isBelieved ? observed : nullptr);
  const std::string note =
      isBelieved ? "observed in " + std::to_string(observed->runs()) + " runs by user " + user : base->note;
  if (isByOperator && own != profiles.end()) erase(context, own);
  Status done = storeProfile(context, {.request = event.request,
                                       .caller = {.user = user, .role = event.caller.role, .runAs = {}},
                                       .profile = profile,
                                       .note = note});
  if (done.ok() && isBelieved) forgetCaused(context, event.application, user);
  return done;
}

const StoredProfile* findProfile(const Profiles& profiles, const std::string& application,
                                 const std::string& user) {
  for (const std::string& name : {application, application.substr(0, application.find('@'))}) {
    for (const std::string& owner : {user, std::string()}) {
      const auto found = profiles.find({owner, name});
      if (found != profiles.end()) return &found->second;
    }
  }
  return nullptr;
}

}  // namespace tarcil::master
