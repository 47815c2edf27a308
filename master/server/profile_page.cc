#include "master/server/profile_page.h"

#include <string>
#include <vector>

#include "master/logic/message_size.h"
#include "schema/convert_profile.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;
using Part = wire::ProfilePosition::List;

constexpr auto kAll = [](const auto&) { return true; };

// Adds what passes and goes into the page; false where something is left over.
template <typename Iterator, typename Passes, typename Value>
bool gather(Iterator it, Iterator end, Passes passes, Page& page, std::vector<const Value*>& to) {
  for (; it != end; ++it) {
    if (!passes(it->second)) continue;
    if (!page.takes(wireBytesOf(it->second))) return false;
    to.push_back(&it->second);
  }
  return true;
}

// Why a measurement failed may quote the user's command.
Profiling shownTo(const Caller& caller, Profiling profiling) {
  const bool isSecret = !profiling.isUnderWay() && !maySteer(caller, profiling.user);
  if (isSecret) profiling.problem = "only " + profiling.user + " may know why";
  return profiling;
}

void writePosition(Part part, const std::string& user, const std::string& application,
                   wire::ProfilePosition::Builder to) {
  to.setList(part);
  to.setUser(text(user));
  to.setApplication(text(application));
}

}  // namespace

void writeProfiles(const MasterLogic& logic, const Caller& caller, wire::ProfilePosition::Reader after,
                   wire::UserPort::ProfilesResults::Builder to) {
  const Part part = after.getList();
  const std::string user = text(after.getUser()), application = text(after.getApplication());
  const auto from = [part](Part list, const auto& entries, const auto& key) {
    return list == part ? entries.upper_bound(key) : entries.begin();
  };
  const auto& allStored = logic.profiles();
  const auto& allProfilings = logic.profilings();
  const auto& allObserved = logic.observed();
  std::vector<const StoredProfile*> stored;
  std::vector<const Profiling*> profilings;
  std::vector<const ObservedProfile*> observed;
  const auto mayKnow = [&caller](const ObservedProfile& each) { return maySteer(caller, each.user); };
  const auto mayUse = [&caller](const StoredProfile& each) {
    return !each.isOwn || maySteer(caller, each.user);
  };
  Page page;
  const bool isAll =
      (part > Part::STORED || gather(from(Part::STORED, allStored, std::pair(user, application)),
                                     allStored.end(), mayUse, page, stored)) &&
      (part > Part::PROFILINGS || gather(from(Part::PROFILINGS, allProfilings, application),
                                         allProfilings.end(), kAll, page, profilings)) &&
      gather(from(Part::OBSERVED, allObserved, std::pair(user, application)), allObserved.end(), mayKnow,
             page, observed);

  auto storedTo = to.initProfiles(static_cast<uint32_t>(stored.size()));
  for (uint32_t i = 0; i < stored.size(); ++i) write(*stored[i], storedTo[i]);
  auto profilingsTo = to.initProfilings(static_cast<uint32_t>(profilings.size()));
  for (uint32_t i = 0; i < profilings.size(); ++i) write(shownTo(caller, *profilings[i]), profilingsTo[i]);
  auto observedTo = to.initObserved(static_cast<uint32_t>(observed.size()));
  for (uint32_t i = 0; i < observed.size(); ++i) write(*observed[i], observedTo[i]);
  if (isAll) return;
  if (!observed.empty()) {
    writePosition(Part::OBSERVED, observed.back()->user, observed.back()->application, to.initNext());
  } else if (!profilings.empty()) {
    writePosition(Part::PROFILINGS, "", profilings.back()->application, to.initNext());
  } else {
    writePosition(Part::STORED, stored.back()->owner(), stored.back()->profile.application, to.initNext());
  }
}

}  // namespace tarcil
