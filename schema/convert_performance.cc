#include "schema/convert_performance.h"

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

namespace {

void writeCause(const Cause& value, wire::Cause::Builder to) {
  to.setKind(toWireEnum<wire::CauseKind>(value.kind));
  to.setResource(value.resource ? static_cast<int8_t>(*value.resource) : int8_t{-1});
  to.setNeighbour(value.neighbour);
  to.setWeight(value.weight);
  to.setEvidence(text(value.evidence));
}

Cause readCause(wire::Cause::Reader from) {
  Cause value;
  value.kind = fromWireEnum<Cause::Kind>(from.getKind(), 8, "CauseKind");
  KJ_REQUIRE(from.getResource() >= -1 && from.getResource() < kResources, "no such resource");
  if (from.getResource() >= 0) value.resource = static_cast<Resource>(from.getResource());
  value.neighbour = from.getNeighbour();
  value.weight = from.getWeight();
  value.evidence = text(from.getEvidence());
  return value;
}

}  // namespace

void write(const Violation& value, wire::Violation::Builder to) {
  to.setAllocation(value.allocation);
  to.setOver(value.over);
  to.setMetric(toWireEnum<wire::Metric>(value.metric));
  to.setExpected(value.expected);
  to.setMeasured(value.measured);
  to.setSince(toWire(value.since));
  auto causes = to.initCauses(static_cast<uint32_t>(value.causes.size()));
  for (uint32_t i = 0; i < causes.size(); ++i) writeCause(value.causes[i], causes[i]);
}

Violation read(wire::Violation::Reader from) {
  Violation value;
  value.allocation = from.getAllocation();
  value.over = from.getOver();
  value.metric = fromWireEnum<Metric>(from.getMetric(), 3, "Metric");
  value.expected = from.getExpected();
  value.measured = from.getMeasured();
  value.since = wallTime(from.getSince());
  for (auto cause : elements(from.getCauses())) value.causes.push_back(readCause(cause));
  return value;
}

void write(const Reached& value, wire::Reached::Builder to) {
  to.setExpected(value.expected);
  to.setMeasured(value.measured);
}

Reached read(wire::Reached::Reader from) {
  return {from.getExpected(), from.getMeasured()};
}

void write(const PerformanceSample& value, wire::Sample::Builder to) {
  to.setAllocation(value.allocation);
  write(value.reached, to.initReached());
}

PerformanceSample read(wire::Sample::Reader from) {
  return {from.getAllocation(), read(from.getReached())};
}

void write(const TaskViolation& value, wire::TaskViolation::Builder to) {
  to.setJob(bytesOf(value.job));
  to.setNumber(value.number);
  to.setTask(value.task);
  to.setServer(text(value.server));
  write(value.violation, to.initViolation());
  writeTexts(value.neighbours, to.initNeighbours(static_cast<uint32_t>(value.neighbours.size())));
}

TaskViolation read(wire::TaskViolation::Reader from) {
  TaskViolation value{.job = readJobId(from.getJob()),
                      .number = from.getNumber(),
                      .task = from.getTask(),
                      .server = text(from.getServer()),
                      .violation = read(from.getViolation()),
                      .neighbours = readTexts(from.getNeighbours())};
  value.neighbours.resize(value.violation.causes.size());
  return value;
}

void write(const std::vector<TaskViolation>& value, capnp::List<wire::TaskViolation>::Builder to) {
  for (uint32_t i = 0; i < value.size(); ++i) write(value[i], to[i]);
}

std::vector<TaskViolation> read(capnp::List<wire::TaskViolation>::Reader from) {
  std::vector<TaskViolation> value;
  for (auto violation : elements(from)) value.push_back(read(violation));
  return value;
}

void write(const std::vector<AdjustingStep>& value, capnp::List<wire::Step>::Builder to) {
  for (uint32_t i = 0; i < value.size(); ++i) {
    to[i].setAt(toWire(value[i].at));
    to[i].setTask(value[i].task);
    to[i].setText(text(value[i].text));
  }
}

std::vector<AdjustingStep> read(capnp::List<wire::Step>::Reader from) {
  std::vector<AdjustingStep> value;
  for (auto step : elements(from)) {
    value.push_back({wallTime(step.getAt()), step.getTask(), text(step.getText())});
  }
  return value;
}

}  // namespace tarcil
