#include "cli/stored_profiles.h"

#include <algorithm>

#include "cli/output/profile_yaml.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/text.h"
#include "rpc/errors.h"
#include "schema/convert_profile.h"

namespace tarcil {
namespace {

// The resources of which there is something to say: pressures other than `otherwise`.
std::string listed(const Pressure& pressure, uint8_t otherwise) {
  std::string text;
  for (size_t i = 0; i < pressure.size(); ++i) {
    if (pressure[i] == otherwise) continue;
    if (!text.empty()) text += ", ";
    text += std::string(kResourceNames[i]) + ": " + std::to_string(pressure[i]);
  }
  return text;
}

Json historyJson(const std::vector<ProfileLesson>& history) {
  Json lessons = Json::array();
  for (const ProfileLesson& lesson : history) {
    lessons.push_back({{"at", jsonTime(lesson.at)},
                       {"resource", kResourceNames[static_cast<size_t>(lesson.resource)]},
                       {"from", lesson.from},
                       {"to", lesson.to},
                       {"felt", lesson.interference},
                       {"performance", lesson.share}});
  }
  return lessons;
}

Json entryOf(size_t resource, const char* kind, uint8_t value, const EntryOrigin& from) {
  return {{"resource", kResourceNames[resource]},
          {"kind", kind},
          {"value", value},
          {"origin", nameOf(from.origin)},
          {"expected_error", from.error == 0 ? Json() : Json(from.error)}};
}

Json entriesOf(const Profile& profile) {
  Json entries = Json::array();
  for (size_t i = 0; i < kResources; ++i) {
    entries.push_back(entryOf(i, "tolerated", profile.tolerated[i], profile.origins.tolerated[i]));
  }
  for (size_t i = 0; i < kResources; ++i) {
    entries.push_back(entryOf(i, "caused", profile.caused[i], profile.origins.caused[i]));
  }
  return entries;
}

Json platformEntriesOf(const Profile& profile) {
  Json entries = Json::array();
  for (const auto& [platform, factor] : profile.platforms) {
    const EntryOrigin from = profile.origins.ofPlatform(platform);
    entries.push_back({{"platform", platform},
                       {"value", factor},
                       {"origin", nameOf(from.origin)},
                       {"expected_error", from.error == 0 ? Json() : Json(from.error / 100.0)}});
  }
  return entries;
}

Json jsonOf(const std::vector<ObservedPerformance>& performances) {
  Json json = Json::array();
  for (const ObservedPerformance& each : performances) {
    json.push_back({{"platform", each.platform},
                    {"metric", name(each.metric)},
                    {"rus", each.rus},
                    {"runs", each.reached.runs},
                    {"mean", each.reached.mean},
                    {"spread", each.reached.spread()},
                    {"last", jsonTime(each.last)}});
  }
  return json;
}

Json jsonOf(const ObservedProfile& observed) {
  Json caused = Json::object();
  for (size_t i = 0; i < kResources; ++i) {
    const Observation& each = observed.caused[i];
    if (each.runs == 0) continue;
    caused[std::string(kResourceNames[i])] = {
        {"runs", each.runs}, {"mean", each.mean}, {"spread", each.spread()}};
  }
  return {{"user", observed.user},
          {"runs", observed.runs()},
          {"last", jsonTime(observed.last)},
          {"caused", caused},
          {"performances", jsonOf(observed.performances)}};
}

std::string tableOf(const Profile& profile) {
  Table table({"Resource", "Caused", "Because", "Tolerated", "Because"});
  for (size_t i = 0; i < kResources; ++i) {
    table.add({std::string(kResourceNames[i]), std::to_string(profile.caused[i]),
               textOf(profile.origins.caused[i]), std::to_string(profile.tolerated[i]),
               textOf(profile.origins.tolerated[i])});
  }
  return table.text();
}

// How many of its twenty entries.
size_t measuredIn(const ProfileOrigins& origins) {
  const auto isMeasured = [](const EntryOrigin& entry) { return entry.origin == Origin::kMeasured; };
  return static_cast<size_t>(std::ranges::count_if(origins.caused, isMeasured) +
                             std::ranges::count_if(origins.tolerated, isMeasured));
}

std::string textOf(const ProfileLesson& lesson, const Style& style) {
  return style.time(lesson.at) + "  tolerates " + std::to_string(lesson.to) + " of " +
         std::string(kResourceNames[static_cast<size_t>(lesson.resource)]) + ", not " +
         std::to_string(lesson.from) + ": a task reached " + fixed(100 * lesson.share, 0) +
         "% of what was expected at an interference of " + std::to_string(lesson.interference);
}

std::string ofThreeDigits(double value) {
  return fixed(value, value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0);
}

Table tableOf(const std::vector<ObservedPerformance>& performances) {
  Table table({"Performs on", "Units", "By", "In the mean", "Spread", "Runs"});
  for (const ObservedPerformance& each : performances) {
    table.add({each.platform, std::to_string(each.rus), std::string(name(each.metric)),
               ofThreeDigits(each.reached.mean), ofThreeDigits(each.reached.spread()),
               std::to_string(each.reached.runs)});
  }
  return table;
}

std::string orNone(std::string text) {
  return text.empty() ? "nothing" : text;
}

}  // namespace

Profile KnownProfile::profile() const {
  return knownProfile(stored ? &*stored : nullptr, observed ? &*observed : nullptr);
}

KnownProfile findProfile(Cluster& cluster, const std::string& application, const std::string& user) {
  KnownProfile found;
  auto failure = kj::runCatchingExceptions([&]() {
    auto answer = cluster.ask([&](Session& session) {
      auto request = session.user.profileRequest();
      request.setApplication(application.c_str());
      request.setUser(user.c_str());
      return request.send();
    });
    if (answer.hasProfile()) found.stored = read(answer.getProfile());
    if (answer.hasObserved()) found.observed = read(answer.getObserved());
  });
  KJ_IF_MAYBE (exception, failure) {
    if (fromException(*exception).code != ErrorCode::kNotFound) kj::throwFatalException(kj::mv(*exception));
  }
  return found;
}

KeptProfiles keptProfiles(Cluster& cluster) {
  using Answer = capnp::Response<wire::UserPort::ProfilesResults>;
  const auto ask = [&cluster](const Answer* before) {
    return cluster.ask([before](Session& session) {
      auto request = session.user.profilesRequest();
      if (before != nullptr) request.setAfter(before->getNext());
      return request.send();
    });
  };
  KeptProfiles kept;
  const auto take = [&kept](const Answer& answer) {
    for (auto profile : answer.getProfiles()) kept.stored.push_back(read(profile));
    for (auto profiling : answer.getProfilings()) kept.profilings.push_back(read(profiling));
    for (auto observed : answer.getObserved()) kept.observed.push_back(read(observed));
  };
  Answer answer = ask(nullptr);
  take(answer);
  while (answer.hasNext()) {
    answer = ask(&answer);
    take(answer);
  }
  return kept;
}

Json jsonOf(const KnownProfile& known) {
  const Profile profile = known.profile();
  const StoredProfile stored = known.stored.value_or(StoredProfile{});
  return {{"application", profile.application},
          {"caused", jsonByResource(profile.caused)},
          {"tolerated", jsonByResource(profile.tolerated)},
          {"entries", entriesOf(profile)},
          {"platforms", profile.platforms},
          {"platform_entries", platformEntriesOf(profile)},
          {"user", known.stored ? Json(stored.user) : Json()},
          {"for_all", known.stored ? Json(!stored.isOwn) : Json()},
          {"stored", jsonTime(stored.stored)},
          {"revision", known.stored ? Json(stored.revision) : Json()},
          {"note", stored.note},
          {"history", historyJson(stored.history)},
          {"observed", known.observed ? jsonOf(*known.observed) : Json()}};
}

std::string textOf(const KnownProfile& known) {
  const Style style = styleFor(false);
  const Profile profile = known.profile();
  Fields fields{{"Application", profile.application}};
  if (known.stored) {
    fields.push_back({"Stored", style.time(known.stored->stored) + " by " + known.stored->user +
                                    (known.stored->isOwn ? " for own jobs" : " for all") + ", revision " +
                                    std::to_string(known.stored->revision)});
  }
  if (known.observed) {
    fields.push_back({"Observed", std::to_string(known.observed->runs()) + " runs by " +
                                      known.observed->user + ", the latest ended " +
                                      style.time(known.observed->last)});
  }
  for (const auto& [platform, factor] : profile.platforms) {
    const EntryOrigin from = profile.origins.ofPlatform(platform);
    fields.push_back({"On " + platform, fixed(factor, 2) + ", " + textOfPlatform(from)});
  }
  if (known.stored && !known.stored->note.empty()) fields.push_back({"Note", known.stored->note});
  std::string text = aligned(fields) + "\n" + tableOf(profile);
  if (known.observed && !known.observed->performances.empty()) {
    text += "\n" + tableOf(known.observed->performances).text();
  }
  if (!known.stored) return text;
  if (!known.stored->history.empty()) text += "\nLowered, since tasks performed badly\n";
  for (const ProfileLesson& lesson : known.stored->history) text += "  " + textOf(lesson, style) + "\n";
  return text;
}

Json jsonOf(const KeptProfiles& kept) {
  Json json = Json::array();
  for (const StoredProfile& stored : kept.stored) {
    json.push_back(jsonOf(KnownProfile{.stored = stored, .observed = {}}));
    json.back()["state"] = "stored";
  }
  for (const Profiling& profiling : kept.profilings) {
    json.push_back({{"application", profiling.application},
                    {"state", profiling.isUnderWay() ? "measuring" : "failed"},
                    {"user", profiling.user},
                    {"job", toString(profiling.job)},
                    {"since", jsonTime(profiling.at)},
                    {"reason", profiling.isUnderWay() ? Json() : Json(profiling.problem)}});
  }
  for (const ObservedProfile& observed : kept.observed) {
    json.push_back(jsonOf(observed));
    json.back()["application"] = observed.application;
    json.back()["state"] = "observed";
  }
  return json;
}

std::string textOf(const KeptProfiles& kept) {
  const Style style = styleFor(false);
  Table table({"Application", "Causes", "Tolerates least", "Measured", "Stored", "User", "For", "Revision"});
  for (const StoredProfile& stored : kept.stored) {
    const Pressure& tolerated = stored.profile.tolerated;
    const auto least = std::ranges::min_element(tolerated);
    const size_t resource = static_cast<size_t>(least - tolerated.begin());
    table.add({stored.profile.application, orNone(listed(stored.profile.caused, 0)),
               std::to_string(*least) + " of " + std::string(kResourceNames[resource]),
               std::to_string(measuredIn(stored.profile.origins)) + " of " + std::to_string(2 * kResources),
               style.time(stored.stored), stored.user, stored.isOwn ? "own jobs" : "all",
               std::to_string(stored.revision)});
  }
  Table others({"Not measured yet", "Job", "User", "Since", "State"});
  for (const Profiling& profiling : kept.profilings) {
    others.add({profiling.application, style.job(0, profiling.job), profiling.user, style.time(profiling.at),
                profiling.isUnderWay() ? "being measured" : "failed: " + profiling.problem});
  }
  Table observed({"Observed", "User", "Runs", "Caused at most, in the mean", "Latest"});
  for (const ObservedProfile& each : kept.observed) {
    const Pressure caused = withObserved({}, each).caused;
    observed.add({each.application, each.user, std::to_string(each.runs()),
                  each.isBelieved() ? orNone(listed(caused, 0)) : "too few runs to tell",
                  style.time(each.last)});
  }
  std::string text;
  for (const Table* part : {&table, &others, &observed}) {
    if (part->empty()) continue;
    text += (text.empty() ? "" : "\n") + part->text();
  }
  return text;
}

}  // namespace tarcil
