#include "schema/convert_profile.h"

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

namespace {

void writeLesson(const ProfileLesson& value, wire::Lesson::Builder to) {
  to.setAt(toWire(value.at));
  to.setResource(static_cast<uint8_t>(value.resource));
  to.setFrom(value.from);
  to.setTo(value.to);
  to.setInterference(value.interference);
  to.setShare(value.share);
}

ProfileLesson readLesson(wire::Lesson::Reader from) {
  KJ_REQUIRE(from.getResource() < kResources, "no such resource", from.getResource());
  return {wallTime(from.getAt()), static_cast<Resource>(from.getResource()),
          from.getFrom(),         from.getTo(),
          from.getInterference(), from.getShare()};
}

void writeObservation(const Observation& value, wire::Observation::Builder to) {
  to.setRuns(value.runs);
  to.setMean(value.mean);
  to.setVariance(value.variance);
}

Observation readObservation(wire::Observation::Reader from) {
  return {from.getRuns(), from.getMean(), from.getVariance()};
}

void writePerformance(const ObservedPerformance& value, wire::ObservedPerformance::Builder to) {
  to.setPlatform(text(value.platform));
  to.setMetric(toWireEnum<wire::Metric>(value.metric));
  to.setRus(value.rus);
  writeObservation(value.reached, to.initReached());
  to.setLast(toWire(value.last));
}

ObservedPerformance readPerformance(wire::ObservedPerformance::Reader from) {
  return {text(from.getPlatform()), fromWireEnum<Metric>(from.getMetric(), 3, "Metric"), from.getRus(),
          readObservation(from.getReached()), wallTime(from.getLast())};
}

}  // namespace

void write(const StoredProfile& value, wire::StoredProfile::Builder to) {
  write(value.profile, to.initProfile());
  to.setUser(text(value.user));
  to.setStored(toWire(value.stored));
  to.setRevision(value.revision);
  to.setNote(text(value.note));
  to.setOwn(value.isOwn);
  auto history = to.initHistory(static_cast<uint32_t>(value.history.size()));
  for (uint32_t i = 0; i < history.size(); ++i) writeLesson(value.history[i], history[i]);
}

StoredProfile read(wire::StoredProfile::Reader from) {
  StoredProfile value{.profile = read(from.getProfile()),
                      .user = text(from.getUser()),
                      .stored = wallTime(from.getStored()),
                      .revision = from.getRevision(),
                      .note = text(from.getNote()),
                      .isOwn = from.getOwn()};
  for (auto lesson : elements(from.getHistory())) value.history.push_back(readLesson(lesson));
  return value;
}

void write(const Profiling& value, wire::Profiling::Builder to) {
  to.setApplication(text(value.application));
  to.setJob(bytesOf(value.job));
  to.setUser(text(value.user));
  to.setAt(toWire(value.at));
  to.setProblem(text(value.problem));
}

Profiling read(wire::Profiling::Reader from) {
  return {text(from.getApplication()), readJobId(from.getJob()), text(from.getUser()), wallTime(from.getAt()),
          text(from.getProblem())};
}

void write(const ObservedProfile& value, wire::ObservedProfile::Builder to) {
  to.setApplication(text(value.application));
  to.setUser(text(value.user));
  auto caused = to.initCaused(kResources);
  for (uint32_t i = 0; i < kResources; ++i) writeObservation(value.caused[i], caused[i]);
  to.setLast(toWire(value.last));
  auto performances = to.initPerformances(static_cast<uint32_t>(value.performances.size()));
  for (uint32_t i = 0; i < performances.size(); ++i) writePerformance(value.performances[i], performances[i]);
}

ObservedProfile read(wire::ObservedProfile::Reader from) {
  ObservedProfile value{.application = text(from.getApplication()), .user = text(from.getUser())};
  const auto caused = from.getCaused();
  KJ_REQUIRE(caused.size() == kResources, "not one observation for each resource", caused.size());
  for (uint32_t i = 0; i < kResources; ++i) value.caused[i] = readObservation(caused[i]);
  value.last = wallTime(from.getLast());
  for (auto each : elements(from.getPerformances())) value.performances.push_back(readPerformance(each));
  return value;
}

}  // namespace tarcil
