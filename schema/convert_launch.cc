// Launches, the reports of what became of them, and what monitors know of tasks.
#include <algorithm>

#include "schema/convert.h"
#include "schema/convert_support.h"
#include "schema/convert_task.h"

namespace tarcil {

using namespace convert;

void write(const GangHosts& value, wire::GangHosts::Builder to) {
  to.setList(text(value.list));
  to.setFile(text(value.file));
}

GangHosts read(wire::GangHosts::Reader from) {
  GangHosts value{text(from.getList()), text(from.getFile())};
  KJ_REQUIRE(std::max(value.list.size(), value.file.size()) <= kMaxGangHostsBytes,
             "the hosts of a gang are too long", value.list.size(), value.file.size());
  return value;
}

void write(const LaunchSpec& value, wire::LaunchSpec::Builder to) {
  writeTask(value, to);
  to.setAllocation(value.allocation);
  to.setJob(bytesOf(value.job));
  to.setJobName(text(value.jobName));
  to.setSubmitter(text(value.submitter));
  to.setTask(value.task);
  to.setAttempt(value.attempt);
  to.setTasks(value.tasks);
  to.setServer(text(value.server));
  writeNumbers<uint16_t>(value.rus, to.initRus(static_cast<uint32_t>(value.rus.size())));
  to.setHasFiles(value.hasFiles);
  write(value.extras, to.initExtras(static_cast<uint32_t>(value.extras.size())));
  to.setCaused(bytesOf(value.caused));
  to.setTolerated(bytesOf(value.tolerated));
  to.setMeasures(value.measures);
  to.setEarlier(value.earlier);
  if (value.gang) write(*value.gang, to.initGang());
}

LaunchSpec read(wire::LaunchSpec::Reader from) {
  LaunchSpec value;
  readTask(from, value);
  value.allocation = from.getAllocation();
  value.job = readJobId(from.getJob());
  value.jobName = text(from.getJobName());
  value.submitter = text(from.getSubmitter());
  value.task = from.getTask();
  value.attempt = from.getAttempt();
  value.tasks = from.getTasks();
  value.server = text(from.getServer());
  value.rus = readNumbers<uint16_t>(from.getRus());
  value.hasFiles = from.getHasFiles();
  value.extras = read(from.getExtras());
  // Launches that an older version recorded have none.
  if (from.hasCaused()) value.caused = readPressure(from.getCaused());
  if (from.hasTolerated()) value.tolerated = readPressure(from.getTolerated());
  value.measures = from.getMeasures();
  value.earlier = from.getEarlier();
  if (from.hasGang()) value.gang = read(from.getGang());
  return value;
}

void write(const TaskReport& value, wire::TaskReport::Builder to) {
  to.setAllocation(value.allocation);
  to.setEnded(value.ended);
  write(value.end, to.initEnd());
  if (value.measured) write(*value.measured, to.initMeasured());
  if (value.reached) to.setReached(*value.reached);
  to.setImage(text(value.image));
}

TaskReport read(wire::TaskReport::Reader from) {
  TaskReport value{from.getAllocation(), from.getEnded(), read(from.getEnd())};
  if (from.hasMeasured()) value.measured = read(from.getMeasured());
  if (from.getReached() >= 0) value.reached = from.getReached();
  value.image = text(from.getImage());
  return value;
}

void write(const Measurement& value, wire::Measurement::Builder to) {
  to.setProblem(text(value.problem));
  if (value.problem.empty()) write(value.profile, to.initProfile());
}

Measurement read(wire::Measurement::Reader from) {
  Measurement value;
  value.problem = text(from.getProblem());
  KJ_REQUIRE(from.hasProfile() || !value.problem.empty(), "neither a profile nor a problem");
  if (value.problem.empty()) value.profile = read(from.getProfile());
  return value;
}

void write(const KnownTask& value, wire::KnownTask::Builder to) {
  to.setAllocation(value.allocation);
  to.setServer(text(value.server));
}

KnownTask read(wire::KnownTask::Reader from) {
  return {from.getAllocation(), text(from.getServer())};
}

}  // namespace tarcil
