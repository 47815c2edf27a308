#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

namespace {

void writeFree(const FreeExtras& value, capnp::List<wire::FreeExtra>::Builder to) {
  uint32_t i = 0;
  for (const auto& [kind, free] : value) {
    const auto& words = free.words();
    to[i].setKind(text(kind));
    writeNumbers<uint64_t>(words, to[i].initFree(static_cast<uint32_t>(words.size())));
    ++i;
  }
}

RuSet readUnits(capnp::List<uint64_t>::Reader words) {
  KJ_REQUIRE(words.size() <= kMaxServerRus / 64, "a server has at most 4096 units", words.size());
  return RuSet::fromWords(readNumbers<uint64_t, RuSet::Words>(words));
}

// Other sums overflow where they are scaled (core/model/contention.h).
PressureSum readSum(capnp::List<int32_t>::Reader from, int32_t most, const char* what) {
  const auto sum = readArray<int32_t, kResources>(from, what);
  for (const int32_t value : sum) KJ_REQUIRE(value >= 0 && value <= most, "out of range", what, value, most);
  return sum;
}

FreeExtras readFree(capnp::List<wire::FreeExtra>::Reader from) {
  FreeExtras value;
  for (auto extra : elements(from)) value[text(extra.getKind())] = readUnits(extra.getFree());
  return value;
}

}  // namespace

void write(const ServerFacts& value, wire::ServerFacts::Builder to) {
  to.setName(text(value.name));
  to.setPlatform(text(value.platform));
  to.setRack(text(value.rack));
  writeMap(value.attributes, to.initAttributes(static_cast<uint32_t>(value.attributes.size())));
  to.setRus(value.rus);
  to.setCores(value.cores);
  to.setMemoryBytes(value.memoryBytes);
  to.setMemoryOvercommit(value.memoryOvercommit);
  to.setDiskBytes(value.diskBytes);
  to.setAddress(text(value.address));
  to.setEmulated(value.emulated);
  writeTexts(value.missing, to.initMissing(static_cast<uint32_t>(value.missing.size())));
  write(value.extras, to.initExtras(static_cast<uint32_t>(value.extras.size())));
}

ServerFacts read(wire::ServerFacts::Reader from) {
  ServerFacts value;
  value.name = text(from.getName());
  value.platform = text(from.getPlatform());
  value.rack = text(from.getRack());
  value.attributes = readMap(from.getAttributes());
  value.rus = from.getRus();
  KJ_REQUIRE(!value.name.empty(), "a server has a name");
  KJ_REQUIRE(value.rus >= 1 && value.rus <= kMaxRusPerTask, "a server has 1 to 4096 resource units",
             value.rus);
  value.cores = from.getCores();
  value.memoryBytes = from.getMemoryBytes();
  value.memoryOvercommit = from.getMemoryOvercommit();
  value.diskBytes = from.getDiskBytes();
  KJ_REQUIRE(value.memoryBytes <= kMaxSize && value.diskBytes <= kMaxSize, "a server has at most 1 EiB",
             value.memoryBytes, value.diskBytes);
  KJ_REQUIRE(value.memoryOvercommit >= 100 && value.memoryOvercommit <= kMaxMemoryOvercommit,
             "memory is overcommitted by 100 to 10000 percent", value.memoryOvercommit);
  value.address = text(from.getAddress());
  value.emulated = from.getEmulated();
  value.missing = readTexts(from.getMissing());
  value.extras = read(from.getExtras());
  return value;
}

void write(const ServerStatus& value, wire::ServerStatus::Builder to) {
  to.setVersion(value.version);
  to.setUp(value.up);
  to.setCordoned(value.cordoned);
  to.setQuarantined(value.quarantined);
  to.setRemoved(value.removed);
  const auto& words = value.free.words();
  writeNumbers<uint64_t>(words, to.initFree(static_cast<uint32_t>(words.size())));
  writeNumbers<int32_t>(value.sum, to.initSum(kResources));
  writeNumbers<int32_t>(value.bound, to.initBound(kResources));
  to.setBackground(bytesOf(value.background));
  to.setAllocatedMemory(value.allocated.memory);
  to.setAllocatedDisk(value.allocated.disk);
  writeFree(value.freeExtras, to.initFreeExtras(static_cast<uint32_t>(value.freeExtras.size())));
  auto residents = to.initResidents(static_cast<uint32_t>(value.residents.size()));
  for (uint32_t i = 0; i < residents.size(); ++i) {
    residents[i].setCaused(bytesOf(value.residents[i].caused));
    residents[i].setTolerated(bytesOf(value.residents[i].tolerated));
    residents[i].setCount(value.residents[i].count);
    residents[i].setStrict(value.residents[i].isStrict);
  }
}

ServerStatus read(wire::ServerStatus::Reader from) {
  ServerStatus value;
  value.version = from.getVersion();
  value.up = from.getUp();
  value.cordoned = from.getCordoned();
  value.quarantined = from.getQuarantined();
  value.removed = from.getRemoved();
  value.free = readUnits(from.getFree());
  value.sum = readSum(from.getSum(), 2 * kMaxServerCaused, "sum");
  value.bound = readSum(from.getBound(), kNoResident, "bound");
  value.background = readPressure(from.getBackground());
  value.freeExtras = readFree(from.getFreeExtras());
  value.allocated = {from.getAllocatedMemory(), from.getAllocatedDisk()};
  KJ_REQUIRE(from.getResidents().size() <= kMaxServerRus, "a server has at most 4096 tasks");
  for (auto group : from.getResidents()) {
    KJ_REQUIRE(group.getCount() >= 1 && group.getCount() <= kMaxServerRus, "a group has 1 to 4096 tasks",
               group.getCount());
    value.residents.push_back({readPressure(group.getCaused()), readPressure(group.getTolerated()),
                               static_cast<uint16_t>(group.getCount()), group.getStrict()});
  }
  return value;
}

void write(const ServerUpdate& value, wire::ServerUpdate::Builder to) {
  to.setId(value.id);
  if (value.facts) write(*value.facts, to.initFacts());
  write(value.status, to.initStatus());
}

ServerUpdate read(wire::ServerUpdate::Reader from) {
  ServerUpdate value;
  value.id = from.getId();
  KJ_REQUIRE(value.id < kMaxServers, "a server's number is out of range", value.id);
  if (from.hasFacts()) value.facts = read(from.getFacts());
  value.status = read(from.getStatus());
  if (value.facts) {
    const std::vector<RuIndex> free = value.status.free.first(kMaxServerRus);
    KJ_REQUIRE(free.empty() || free.back() < value.facts->rus, "a unit is free that the server has not",
               value.facts->rus);
  }
  return value;
}

void write(const std::string& platform, const Share& share, wire::Platform::Builder to) {
  to.setName(text(platform));
  writeNumbers<uint16_t>(share, to.initShare(kResources));
}

Share readShare(wire::Platform::Reader from) {
  return readArray<uint16_t, kResources>(from.getShare(), "share");
}

void write(const Usage& value, wire::Usage::Builder to) {
  to.setUser(text(value.user));
  to.setRuMicroseconds(value.ruMicroseconds);
  to.setAttempts(value.attempts);
  to.setDone(value.done);
  to.setFailed(value.failed);
  to.setCancelled(value.cancelled);
  to.setLost(value.lost);
  to.setShares(value.shares);
}

Usage read(wire::Usage::Reader from) {
  return {text(from.getUser()), from.getRuMicroseconds(), from.getAttempts(), from.getDone(),
          from.getFailed(),     from.getCancelled(),      from.getLost(),     from.getShares()};
}

void write(const QualitySettings& value, wire::QualitySettings::Builder to) {
  to.setTarget(value.target);
  to.setRarity(value.rarity);
  to.setConfidence(value.confidence);
  to.setCap(value.cap.value_or(0));
  to.setFloor(value.floor);
  to.setRatio(value.ratio.value_or(0));
  to.setModel(toWireEnum<wire::QualityModel>(value.model));
  to.setContention(toWireEnum<wire::ContentionModel>(value.contention));
  to.setMargin(value.margin);
  to.setNoiseFloor(value.noiseFloor);
  to.setProtectNeighbours(value.protectNeighbours);
  to.setVersion(value.version);
  to.setProfileUnknown(value.profileUnknown);
  to.setRanking(toWireEnum<wire::RankBy>(value.ranking));
  to.setNeighbourFloor(value.neighbourFloor);
  to.setThrottling(toWireEnum<wire::Throttling>(value.throttling));
}

QualitySettings read(wire::QualitySettings::Reader from) {
  QualitySettings value;
  value.target = from.getTarget();
  value.rarity = from.getRarity();
  value.confidence = from.getConfidence();
  if (from.getCap() != 0) value.cap = from.getCap();
  value.floor = from.getFloor();
  if (from.getRatio() != 0) value.ratio = from.getRatio();
  value.model = fromWireEnum<QualityModel>(from.getModel(), 2, "QualityModel");
  value.contention = fromWireEnum<ContentionModel>(from.getContention(), 3, "ContentionModel");
  value.margin = from.getMargin();
  value.noiseFloor = from.getNoiseFloor();
  value.protectNeighbours = from.getProtectNeighbours();
  value.version = from.getVersion();
  value.profileUnknown = from.getProfileUnknown();
  value.ranking = fromWireEnum<RankBy>(from.getRanking(), 2, "RankBy");
  value.neighbourFloor = from.getNeighbourFloor();
  value.throttling = fromWireEnum<Throttling>(from.getThrottling(), 3, "Throttling");
  return value;
}

}  // namespace tarcil
