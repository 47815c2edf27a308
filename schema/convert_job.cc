#include <kj/vector.h>

#include <cstring>

#include "schema/convert.h"
#include "schema/convert_people.h"
#include "schema/convert_support.h"
#include "schema/convert_task.h"

namespace tarcil {

using namespace convert;

kj::ArrayPtr<const kj::byte> bytesOf(const JobId& id) {
  return kj::arrayPtr(id.bytes.data(), id.bytes.size());
}

JobId readJobId(capnp::Data::Reader data) {
  JobId id;
  KJ_REQUIRE(data.size() == id.bytes.size(), "a job id has 16 bytes", data.size());
  memcpy(id.bytes.data(), data.begin(), id.bytes.size());
  return id;
}

void writeJobIds(const std::vector<JobId>& ids, capnp::List<capnp::Data>::Builder to) {
  for (uint32_t i = 0; i < ids.size(); ++i) to.set(i, bytesOf(ids[i]));
}

std::vector<JobId> readJobIds(capnp::List<capnp::Data>::Reader from) {
  std::vector<JobId> ids;
  ids.reserve(from.size());
  for (auto id : from) ids.push_back(readJobId(id));
  return ids;
}

kj::ArrayPtr<const kj::byte> bytesOf(const Pressure& pressure) {
  return kj::arrayPtr(pressure.data(), pressure.size());
}

Pressure readPressure(capnp::Data::Reader data) {
  Pressure pressure{};
  KJ_REQUIRE(data.size() == pressure.size(), "a vector of pressures has 10 bytes", data.size());
  for (size_t i = 0; i < pressure.size(); ++i) {
    KJ_REQUIRE(data[i] <= kMaxPressure, "pressure out of range", i, data[i]);
    pressure[i] = data[i];
  }
  return pressure;
}

wire::RunState toWire(RunState state) {
  return toWireEnum<wire::RunState>(state);
}
RunState fromWire(wire::RunState state) {
  return fromWireEnum<RunState>(state, 7, "RunState");
}

void write(const Caller& value, wire::Caller::Builder to) {
  to.setUser(text(value.user));
  to.setRole(toWire(value.role));
  writeTexts(value.runAs, to.initRunAs(static_cast<uint32_t>(value.runAs.size())));
}

Caller read(wire::Caller::Reader from) {
  return {text(from.getUser()), fromWire(from.getRole()), readTexts(from.getRunAs())};
}

void write(const Extras& value, capnp::List<wire::Extra>::Builder to) {
  uint32_t i = 0;
  for (const auto& [kind, count] : value) {
    to[i].setKind(text(kind));
    to[i].setCount(count);
    ++i;
  }
}

Extras read(capnp::List<wire::Extra>::Reader from) {
  Extras value;
  KJ_REQUIRE(from.size() <= kMaxExtraKinds, "too many kinds of extras", from.size());
  for (auto extra : elements(from)) {
    KJ_REQUIRE(extra.getKind().size() > 0, "extras without a kind");
    KJ_REQUIRE(extra.getCount() >= 1 && extra.getCount() <= kMaxExtra, "count of extras out of range",
               extra.getCount());
    value[text(extra.getKind())] = extra.getCount();
  }
  return value;
}

void write(const ExtraNumbers& value, capnp::List<wire::HeldExtra>::Builder to) {
  uint32_t i = 0;
  for (const auto& [kind, numbers] : value) {
    to[i].setKind(text(kind));
    writeNumbers<uint16_t>(numbers, to[i].initNumbers(static_cast<uint32_t>(numbers.size())));
    ++i;
  }
}

ExtraNumbers read(capnp::List<wire::HeldExtra>::Reader from) {
  ExtraNumbers value;
  for (auto held : elements(from)) value[text(held.getKind())] = readNumbers<uint16_t>(held.getNumbers());
  return value;
}

namespace {

using OriginsRow = std::array<EntryOrigin, kResources>;

// Of pressures. Nothing where nobody says more than the numbers, as in most job files.
void writeOrigins(const ProfileOrigins& value, wire::Profile::Builder to) {
  if (value.caused == OriginsRow() && value.tolerated == OriginsRow()) return;
  auto origins = to.initOrigins(2 * kResources), errors = to.initErrors(2 * kResources);
  size_t i = 0;
  for (const OriginsRow& row : {value.caused, value.tolerated}) {
    for (const EntryOrigin& entry : row) {
      origins[i] = static_cast<uint8_t>(entry.origin);
      errors[i] = entry.error;
      ++i;
    }
  }
}

EntryOrigin readOrigin(uint8_t origin, uint8_t error) {
  KJ_REQUIRE(error <= kMaxPressure, "error out of range", error);
  return {fromWireEnum<Origin>(origin, kOriginNames.size(), "Origin"), error};
}

// Of pressures.
ProfileOrigins readOrigins(wire::Profile::Reader from) {
  ProfileOrigins value;
  const auto origins = from.getOrigins(), errors = from.getErrors();
  if (origins.size() == 0 && errors.size() == 0) return value;
  KJ_REQUIRE(origins.size() == 2 * kResources && errors.size() == origins.size(),
             "origins and errors have 20 bytes", origins.size(), errors.size());
  size_t i = 0;
  for (OriginsRow* row : {&value.caused, &value.tolerated}) {
    for (EntryOrigin& entry : *row) {
      entry = readOrigin(origins[i], errors[i]);
      ++i;
    }
  }
  return value;
}

}  // namespace

void write(const Profile& value, wire::Profile::Builder to) {
  to.setApplication(text(value.application));
  to.setCaused(bytesOf(value.caused));
  to.setTolerated(bytesOf(value.tolerated));
  auto platforms = to.initPlatforms(static_cast<uint32_t>(value.platforms.size()));
  uint32_t i = 0;
  for (const auto& [name, factor] : value.platforms) {
    platforms[i].setPlatform(text(name));
    platforms[i].setFactor(factor);
    const EntryOrigin from = value.origins.ofPlatform(name);
    platforms[i].setOrigin(static_cast<uint8_t>(from.origin));
    platforms[i].setError(from.error);
    ++i;
  }
  to.setIsAssumed(value.isAssumed);
  writeOrigins(value.origins, to);
}

Profile read(wire::Profile::Reader from) {
  Profile value;
  value.application = text(from.getApplication());
  value.caused = readPressure(from.getCaused());
  value.tolerated = readPressure(from.getTolerated());
  value.origins = readOrigins(from);
  for (auto platform : elements(from.getPlatforms())) {
    KJ_REQUIRE(platform.getFactor() > 0 && platform.getFactor() <= 1, "platform factor out of (0, 1]");
    const std::string name = text(platform.getPlatform());
    value.platforms[name] = platform.getFactor();
    value.origins.setPlatform(name, readOrigin(platform.getOrigin(), platform.getError()));
  }
  value.isAssumed = from.getIsAssumed();
  return value;
}

namespace {

void writeConstraints(const std::vector<Constraint>& values, capnp::List<wire::Constraint>::Builder to) {
  for (uint32_t i = 0; i < values.size(); ++i) {
    to[i].setAttribute(text(values[i].attribute));
    to[i].setOp(toWireEnum<wire::ConstraintOperator>(values[i].op));
    writeTexts(values[i].values, to[i].initValues(static_cast<uint32_t>(values[i].values.size())));
  }
}

std::vector<Constraint> readConstraints(capnp::List<wire::Constraint>::Reader from) {
  std::vector<Constraint> values;
  for (auto constraint : elements(from)) {
    values.push_back({text(constraint.getAttribute()),
                      fromWireEnum<Constraint::Operator>(constraint.getOp(), 7, "ConstraintOperator"),
                      readTexts(constraint.getValues())});
  }
  return values;
}

template <typename WireDomain>
WireDomain domainToWire(const std::string& attribute) {
  if (attribute == Domain::kServer) return WireDomain::SERVER;
  return attribute == Domain::kRack ? WireDomain::RACK : WireDomain::NONE;
}

template <typename WireDomain>
std::string domainFromWire(WireDomain domain, capnp::Text::Reader attribute) {
  if (attribute.size() > 0) return text(attribute);
  switch (domain) {
    case WireDomain::NONE:
      return {};
    case WireDomain::SERVER:
      return std::string(Domain::kServer);
    case WireDomain::RACK:
      return std::string(Domain::kRack);
  }
  KJ_FAIL_REQUIRE("unknown domain of servers", static_cast<unsigned>(domain));
}

void writePreferences(const std::map<uint32_t, std::vector<std::string>>& values,
                      capnp::List<wire::TaskPreference>::Builder to) {
  uint32_t i = 0;
  for (const auto& [task, servers] : values) {
    to[i].setTask(task);
    writeTexts(servers, to[i].initServers(static_cast<uint32_t>(servers.size())));
    ++i;
  }
}

void writeEarlier(const std::map<std::string, double>& values,
                  capnp::List<wire::JobSpec::Earlier>::Builder to) {
  uint32_t i = 0;
  for (const auto& [platform, reached] : values) {
    to[i].setPlatform(text(platform));
    to[i++].setReached(reached);
  }
}

std::map<std::string, double> readEarlier(capnp::List<wire::JobSpec::Earlier>::Reader from) {
  std::map<std::string, double> values;
  for (auto earlier : elements(from)) values[text(earlier.getPlatform())] = earlier.getReached();
  return values;
}

std::map<uint32_t, std::vector<std::string>> readPreferences(capnp::List<wire::TaskPreference>::Reader from) {
  std::map<uint32_t, std::vector<std::string>> values;
  for (auto preference : elements(from)) values[preference.getTask()] = readTexts(preference.getServers());
  return values;
}

void writeRequirements(const std::map<uint32_t, std::vector<Constraint>>& values,
                       capnp::List<wire::TaskRequirement>::Builder to) {
  uint32_t i = 0;
  for (const auto& [task, constraints] : values) {
    to[i].setTask(task);
    writeConstraints(constraints, to[i].initConstraints(static_cast<uint32_t>(constraints.size())));
    ++i;
  }
}

std::map<uint32_t, std::vector<Constraint>> readRequirements(
    capnp::List<wire::TaskRequirement>::Reader from) {
  std::map<uint32_t, std::vector<Constraint>> values;
  for (auto task : elements(from)) values[task.getTask()] = readConstraints(task.getConstraints());
  return values;
}

}  // namespace

void write(const Container& value, wire::Container::Builder to) {
  to.setRootfs(text(value.rootfs));
  to.setBundle(text(value.bundle));
  to.setNetwork(toWireEnum<wire::Network>(value.network));
  to.setImage(text(value.image));
  to.setImageDigest(text(value.imageDigest));
}

Container read(wire::Container::Reader from) {
  return {text(from.getRootfs()), text(from.getBundle()),
          fromWireEnum<Container::Network>(from.getNetwork(), 3, "Network"), text(from.getImage()),
          text(from.getImageDigest())};
}

void write(const PerformanceGoal& value, wire::PerformanceGoal::Builder to) {
  to.setMetric(toWireEnum<wire::Metric>(value.metric));
  to.setTarget(value.target);
  to.setDeviation(value.deviation);
  to.setWindow(static_cast<uint64_t>(value.window.count()));
}

PerformanceGoal read(wire::PerformanceGoal::Reader from) {
  return {fromWireEnum<Metric>(from.getMetric(), 3, "Metric"), from.getTarget(), from.getDeviation(),
          Duration(from.getWindow())};
}

void write(const After& value, wire::After::Builder to) {
  writeJobIds(value.ok, to.initOk(static_cast<uint32_t>(value.ok.size())));
  writeJobIds(value.any, to.initAny(static_cast<uint32_t>(value.any.size())));
  writeJobIds(value.failed, to.initFailed(static_cast<uint32_t>(value.failed.size())));
  if (value.each) to.setEach(bytesOf(*value.each));
  to.setUnmet(toWireEnum<wire::After::Unmet>(value.unmet));
}

After read(wire::After::Reader from) {
  After value;
  value.ok = readJobIds(from.getOk());
  value.any = readJobIds(from.getAny());
  value.failed = readJobIds(from.getFailed());
  if (from.getEach().size() > 0) value.each = readJobId(from.getEach());
  value.unmet = fromWireEnum<After::Unmet>(from.getUnmet(), 2, "Unmet");
  return value;
}

void write(const JobSpec& value, wire::JobSpec::Builder to) {
  writeTask(value, to);
  to.setName(text(value.name));
  to.setTasks(value.tasks);
  to.setRusPerTask(value.rusPerTask);
  to.setConcurrency(value.concurrency);
  to.setPriority(value.priority);
  to.setStartAfter(toWire(value.startAfter));
  to.setSchedule(toWireEnum<wire::Schedule>(value.schedule));
  write(value.profile, to.initProfile());
  to.setProfileLookedUp(value.profileLookedUp);
  to.setTarget(value.target.value_or(0));
  to.setConfidence(value.confidence.value_or(0));
  to.setMaxWait(value.maxWait ? value.maxWait->count() : int64_t{-1});
  to.setPreemptible(value.preemptible);
  to.setYields(value.yields);
  to.setProtectNeighbours(value.protectNeighbours);
  to.setProtection(toWireEnum<wire::Protection>(value.protection));
  to.setSpread(domainToWire<wire::Spread>(value.placement.spread));
  to.setSpreadBy(text(value.placement.spread));
  to.setAtMost(value.placement.atMost);
  writeConstraints(value.placement.constraints,
                   to.initConstraints(static_cast<uint32_t>(value.placement.constraints.size())));
  writeTexts(value.placement.prefer, to.initPrefer(static_cast<uint32_t>(value.placement.prefer.size())));
  to.setRestartAttempts(value.restart.attempts);
  to.setRestartBackoff(static_cast<uint64_t>(value.restart.backoff.count()));
  to.setRestartOnLost(value.restart.onLost);
  write(value.extras, to.initExtras(static_cast<uint32_t>(value.extras.size())));
  to.setPolicy(toWireEnum<wire::Policy>(value.policy));
  to.setPack(domainToWire<wire::Pack>(value.placement.pack));
  to.setPackBy(text(value.placement.pack));
  const auto& preferences = value.placement.preferOfTask;
  writePreferences(preferences, to.initPreferOfTask(static_cast<uint32_t>(preferences.size())));
  const auto& requirements = value.placement.requireOfTask;
  writeRequirements(requirements, to.initRequireOfTask(static_cast<uint32_t>(requirements.size())));
  to.setAtMostOnce(value.atMostOnce);
  to.setHold(value.hold);
  to.setMoreRus(value.adjust.moreRus);
  to.setMayMove(value.adjust.move);
  to.setMeasures(text(value.measures));
  writeEarlier(value.earlier, to.initEarlier(static_cast<uint32_t>(value.earlier.size())));
  if (value.after != After{}) write(value.after, to.initAfter());
  writeTexts(value.items.all(), to.initItems(static_cast<uint32_t>(value.items.size())));
}

JobSpec read(wire::JobSpec::Reader from) {
  JobSpec value;
  readTask(from, value);
  value.name = text(from.getName());
  value.tasks = from.getTasks();
  value.rusPerTask = from.getRusPerTask();
  value.concurrency = from.getConcurrency();
  value.priority = from.getPriority();
  value.startAfter = wallTime(from.getStartAfter());
  value.schedule = fromWireEnum<Schedule>(from.getSchedule(), 2, "Schedule");
  value.profile = read(from.getProfile());
  value.profileLookedUp = from.getProfileLookedUp();
  if (from.getTarget() != 0) value.target = from.getTarget();
  if (from.getConfidence() != 0) value.confidence = from.getConfidence();
  if (from.getMaxWait() >= 0) value.maxWait = Duration(from.getMaxWait());
  value.preemptible = from.getPreemptible();
  value.yields = from.getYields();
  value.protectNeighbours = from.getProtectNeighbours();
  value.protection = fromWireEnum<Protection>(from.getProtection(), 3, "Protection");
  value.placement.spread = domainFromWire(from.getSpread(), from.getSpreadBy());
  value.placement.atMost = from.getAtMost();
  value.placement.constraints = readConstraints(from.getConstraints());
  value.placement.prefer = readTexts(from.getPrefer());
  value.restart = {from.getRestartAttempts(), Duration(from.getRestartBackoff()), from.getRestartOnLost()};
  value.extras = read(from.getExtras());
  value.policy = fromWireEnum<Policy>(from.getPolicy(), 6, "Policy");
  value.placement.pack = domainFromWire(from.getPack(), from.getPackBy());
  value.placement.preferOfTask = readPreferences(from.getPreferOfTask());
  value.placement.requireOfTask = readRequirements(from.getRequireOfTask());
  value.atMostOnce = from.getAtMostOnce();
  value.hold = from.getHold();
  value.adjust = {from.getMoreRus(), from.getMayMove()};
  value.measures = text(from.getMeasures());
  value.earlier = readEarlier(from.getEarlier());
  value.after = read(from.getAfter());
  value.items = Items(readTexts(from.getItems()));
  return value;
}

void write(const std::vector<InputFile>& value, capnp::List<wire::InputFile>::Builder to) {
  for (uint32_t i = 0; i < value.size(); ++i) {
    to[i].setPath(text(value[i].path));
    to[i].setMode(value[i].mode);
    to[i].setContent(data(value[i].content));
  }
}

std::vector<InputFile> read(capnp::List<wire::InputFile>::Reader from) {
  std::vector<InputFile> value;
  value.reserve(elements(from).size());
  for (auto file : from) {
    const auto content = file.getContent().asChars();
    value.push_back({text(file.getPath()), file.getMode(), std::string(content.begin(), content.size())});
  }
  return value;
}

void write(const TaskEnd& value, wire::TaskEnd::Builder to) {
  to.setCause(toWireEnum<wire::EndCause>(value.cause));
  to.setExitCode(value.exitCode);
  to.setSignal(value.signal);
  to.setOomKilled(value.oomKilled);
  to.setLacksOutput(value.lacksOutput);
  to.setProblem(text(value.problem));
  to.setStarted(toWire(value.started));
  to.setEnded(toWire(value.ended));
  to.setPeakMemory(value.peakMemoryBytes);
  to.setCpuTime(static_cast<uint64_t>(value.cpuTime.count()));
}

TaskEnd read(wire::TaskEnd::Reader from) {
  return {fromWireEnum<EndCause>(from.getCause(), 5, "EndCause"),
          from.getExitCode(),
          from.getSignal(),
          from.getOomKilled(),
          from.getLacksOutput(),
          text(from.getProblem()),
          wallTime(from.getStarted()),
          wallTime(from.getEnded()),
          from.getPeakMemory(),
          Duration(from.getCpuTime())};
}

void write(const JobRecord& value, wire::JobRecord::Builder to) {
  to.setId(bytesOf(value.id));
  write(value.spec, to.initSpec());
  to.setUser(text(value.user));
  to.setRunAs(text(value.runAs));
  to.setHasFiles(value.hasFiles);
  to.setSubmitted(toWire(value.submitted));
  to.setProfileReplaced(toWire(value.profileReplaced));
  to.setFileBytes(value.fileBytes);
  to.setFilePieces(value.filePieces);
  to.setNumber(value.number);
  to.setCron(text(value.cron));
  to.setPlanned(toWire(value.planned));
}

JobRecord read(wire::JobRecord::Reader from) {
  return {readJobId(from.getId()),
          read(from.getSpec()),
          text(from.getUser()),
          text(from.getRunAs()),
          from.getHasFiles(),
          wallTime(from.getSubmitted()),
          wallTime(from.getProfileReplaced()),
          from.getFileBytes(),
          from.getFilePieces(),
          from.getNumber(),
          text(from.getCron()),
          wallTime(from.getPlanned())};
}

void write(const JobProgress& value, wire::JobProgress::Builder to) {
  to.setId(bytesOf(value.id));
  to.setState(toWire(value.state));
  to.setReason(text(value.reason));
  to.setOwner(text(value.owner));
  to.setCancelRequested(value.cancelRequested);
  to.setDecisions(value.decisions);
  to.setFinished(toWire(value.finished));
  to.setHeld(value.held);
  to.setHeldUntil(toWire(value.heldUntil));
  to.setHeldForJobs(value.heldForJobs);
  to.setKeepsFiles(value.keepsFiles);
}

JobProgress read(wire::JobProgress::Reader from) {
  return {readJobId(from.getId()),       fromWire(from.getState()),
          text(from.getReason()),        text(from.getOwner()),
          from.getCancelRequested(),     from.getDecisions(),
          wallTime(from.getFinished()),  from.getHeld(),
          wallTime(from.getHeldUntil()), from.getHeldForJobs(),
          from.getKeepsFiles()};
}

void write(const TaskRecord& value, wire::TaskRecord::Builder to) {
  to.setJob(bytesOf(value.job));
  to.setIndex(value.index);
  to.setState(toWire(value.state));
  to.setAttempt(value.attempt);
  to.setFailures(value.failures);
  to.setAllocation(value.allocation);
  to.setServer(text(value.server));
  writeNumbers<uint16_t>(value.rus, to.initRus(static_cast<uint32_t>(value.rus.size())));
  to.setQ(value.q);
  to.setS(value.s);
  to.setDecision(value.decision);
  to.setStopping(value.stopping);
  to.setPlaced(toWire(value.placed));
  write(value.end, to.initEnd());
  write(value.extras, to.initExtras(static_cast<uint32_t>(value.extras.size())));
  to.setMoving(value.moving);
  to.setPrevious(text(value.previous));
  to.setMovedFor(text(value.movedFor));
  to.setMayRunFor(static_cast<uint64_t>(value.mayRunFor.count()));
  to.setExcused(value.excused);
  auto earlier = to.initEarlier(static_cast<uint32_t>(value.earlier.size()));
  for (uint32_t i = 0; i < earlier.size(); ++i) {
    earlier[i].setAttempt(value.earlier[i].attempt);
    earlier[i].setAllocation(value.earlier[i].allocation);
    earlier[i].setServer(text(value.earlier[i].server));
  }
}

TaskRecord read(wire::TaskRecord::Reader from) {
  TaskRecord value;
  value.job = readJobId(from.getJob());
  value.index = from.getIndex();
  value.state = fromWire(from.getState());
  value.attempt = from.getAttempt();
  value.failures = from.getFailures();
  value.allocation = from.getAllocation();
  value.server = text(from.getServer());
  value.rus = readNumbers<uint16_t>(from.getRus());
  value.q = from.getQ();
  value.s = from.getS();
  value.decision = from.getDecision();
  value.stopping = from.getStopping();
  value.placed = wallTime(from.getPlaced());
  value.end = read(from.getEnd());
  value.extras = read(from.getExtras());
  value.moving = from.getMoving();
  value.previous = text(from.getPrevious());
  value.movedFor = text(from.getMovedFor());
  value.mayRunFor = Duration(from.getMayRunFor());
  value.excused = from.getExcused();
  for (auto attempt : elements(from.getEarlier())) {
    value.earlier.push_back({attempt.getAttempt(), attempt.getAllocation(), text(attempt.getServer())});
  }
  return value;
}

namespace {

// Bytes of all candidates, one after the other.
template <typename Bytes>
kj::Array<kj::byte> joined(const Explanation& value, Bytes bytesOfCandidate) {
  kj::Vector<kj::byte> all;
  for (const Candidate& candidate : value.best) {
    for (uint8_t byte : bytesOfCandidate(candidate)) all.add(byte);
  }
  return all.releaseAsArray();
}

std::array<uint8_t, 1> single(uint8_t byte) {
  return {byte};
}

}  // namespace

void write(const Explanation& value, wire::Explanation::Builder to) {
  to.setDrawn(value.drawn);
  to.setAcceptable(value.acceptable);
  to.setLimit(value.limit);
  to.setRarity(value.rarity);
  to.setFreeSlots(value.freeSlots);
  to.setConfidence(value.confidence);
  to.setAllSeen(value.allSeen);
  to.setEnoughFound(value.enoughFound);
  to.setMargin(static_cast<uint8_t>(value.margin));
  to.setPrice(value.price);
  to.setWaitingJobs(value.waitingJobs);
  to.setSeed(value.seed);
  to.setWanted(static_cast<uint32_t>(value.wanted));
  to.setSought(static_cast<uint32_t>(value.sought));
  to.setPlaced(static_cast<uint32_t>(value.placed));
  size_t reasons = value.dropped.size();
  while (reasons > 0 && value.dropped[reasons - 1] == 0) --reasons;
  auto dropped = to.initDropped(static_cast<uint32_t>(reasons));
  for (uint32_t i = 0; i < reasons; ++i) dropped.set(i, value.dropped[i]);
  const auto count = static_cast<uint32_t>(value.best.size());
  if (count == 0) return;
  auto servers = to.initServers(count);
  auto q = to.initQ(count), s = to.initS(count);
  auto costs = to.initCosts(count);
  constexpr auto kUnits = static_cast<uint32_t>(std::tuple_size_v<decltype(Candidate::rus)>);
  auto rus = to.initRus(kUnits * count);
  for (uint32_t i = 0; i < count; ++i) {
    const Candidate& candidate = value.best[i];
    servers.set(i, candidate.server);
    q.set(i, candidate.q);
    s.set(i, candidate.s);
    costs.set(i, candidate.cost);
    for (uint32_t unit = 0; unit < kUnits; ++unit) rus.set(kUnits * i + unit, candidate.rus[unit]);
  }
  to.setContentions(joined(value, [](const Candidate& c) { return c.contention; }));
  to.setSlacks(joined(value, [](const Candidate& c) { return c.slack; }));
  to.setRusCounts(joined(value, [](const Candidate& c) { return single(c.rusCount); }));
  to.setAfter(joined(value, [](const Candidate& c) { return single(static_cast<uint8_t>(c.after)); }));
}

Explanation read(wire::Explanation::Reader from, size_t mostCandidates) {
  Explanation value;
  value.drawn = from.getDrawn();
  value.acceptable = from.getAcceptable();
  value.limit = from.getLimit();
  value.rarity = from.getRarity();
  value.freeSlots = from.getFreeSlots();
  value.confidence = from.getConfidence();
  value.allSeen = from.getAllSeen();
  value.enoughFound = from.getEnoughFound();
  value.margin = from.getMargin();
  value.price = from.getPrice();
  value.waitingJobs = from.getWaitingJobs();
  value.seed = from.getSeed();
  value.wanted = from.getWanted();
  value.sought = from.getSought();
  value.placed = from.getPlaced();
  KJ_REQUIRE(from.getDropped().size() <= kDropReasons, "dropped: unknown reasons: the peer is newer");
  for (uint32_t i = 0; i < from.getDropped().size(); ++i) value.dropped[i] = from.getDropped()[i];
  const uint32_t count = from.getServers().size();
  constexpr auto kUnits = static_cast<uint32_t>(std::tuple_size_v<decltype(Candidate::rus)>);
  KJ_REQUIRE(count <= mostCandidates && from.getQ().size() == count && from.getS().size() == count &&
                 from.getContentions().size() == kResources * count &&
                 from.getSlacks().size() == kResources * count && from.getRus().size() == kUnits * count &&
                 from.getRusCounts().size() == count && from.getAfter().size() == count &&
                 (from.getCosts().size() == count || from.getCosts().size() == 0),
             "explanation: lists of different lengths");
  for (uint32_t i = 0; i < count; ++i) {
    Candidate& candidate = value.best.emplace_back();
    candidate.server = from.getServers()[i];
    candidate.q = from.getQ()[i];
    candidate.s = from.getS()[i];
    if (from.getCosts().size() > 0) candidate.cost = from.getCosts()[i];
    for (uint32_t unit = 0; unit < kUnits; ++unit) candidate.rus[unit] = from.getRus()[kUnits * i + unit];
    for (uint32_t r = 0; r < kResources; ++r) {
      candidate.contention[r] = from.getContentions()[kResources * i + r];
      candidate.slack[r] = from.getSlacks()[kResources * i + r];
    }
    KJ_REQUIRE(from.getRusCounts()[i] <= kUnits, "explanation: too many units");
    candidate.rusCount = from.getRusCounts()[i];
    candidate.after = fromWireEnum<TieBreak>(from.getAfter()[i], kTieBreaks, "tie-break");
  }
  return value;
}

void write(const DecisionRecord& value, wire::DecisionRecord::Builder to) {
  to.setJob(bytesOf(value.job));
  to.setNumber(value.number);
  writeNumbers<uint32_t>(value.tasks, to.initTasks(static_cast<uint32_t>(value.tasks.size())));
  write(value.explanation, to.initExplanation());
}

DecisionRecord read(wire::DecisionRecord::Reader from) {
  return {readJobId(from.getJob()), from.getNumber(), readNumbers<uint32_t>(from.getTasks()),
          read(from.getExplanation())};
}

}  // namespace tarcil
