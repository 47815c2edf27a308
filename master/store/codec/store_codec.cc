#include "master/store/codec/store_codec.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/debug.h>

#include <cstring>

#include "core/base/hex.h"
#include "schema/convert.h"
#include "schema/convert_cron.h"
#include "schema/convert_member.h"
#include "schema/convert_people.h"
#include "schema/convert_profile.h"
#include "schema/convert_secret.h"
#include "schema/convert_support.h"
#include "schema/store.capnp.h"

namespace tarcil {
namespace {

using convert::text;

std::string prefix(RecordKind kind) {
  return {static_cast<char>(kind)};
}

// Big-endian, so that keys sort as numbers do.
template <typename T>
void appendNumber(std::string& key, T value) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    key += static_cast<char>(value >> shift & 0xff);
  }
}

std::string numbered(std::string key, uint32_t number) {
  appendNumber(key, number);
  return key;
}

struct KeyOf {
  std::string operator()(const ClusterRecord&) const { return prefix(RecordKind::kCluster); }
  std::string operator()(const QualitySettings&) const { return prefix(RecordKind::kSettings); }
  std::string operator()(const ServerRecord& r) const { return numbered(prefix(RecordKind::kServer), r.id); }
  std::string operator()(const AgentRecord& r) const { return agentKey(r.name); }
  std::string operator()(const AnswerRecord& r) const {
    return answerKey(r.agent, r.epoch, r.answer.sequence);
  }
  std::string operator()(const JobRecord& r) const { return jobKey(RecordKind::kJob, r.id); }
  std::string operator()(const JobProgress& r) const { return jobKey(RecordKind::kProgress, r.id); }
  std::string operator()(const TaskRecord& r) const {
    return numbered(jobKey(RecordKind::kTask, r.job), r.index);
  }
  std::string operator()(const DecisionRecord& r) const {
    return numbered(jobKey(RecordKind::kDecision, r.job), r.number);
  }
  std::string operator()(const FilesRecord& r) const { return filePieceKey(r.job, r.piece); }
  std::string operator()(const UploadRecord& r) const { return jobKey(RecordKind::kUpload, r.job); }
  std::string operator()(const PlatformRecord& r) const { return prefix(RecordKind::kPlatform) + r.name; }
  std::string operator()(const Usage& r) const { return prefix(RecordKind::kUsage) + r.user; }
  std::string operator()(const StoredProfile& r) const {
    return profileKey(r.profile.application, r.owner());
  }
  std::string operator()(const Profiling& r) const { return profilingKey(r.application); }
  std::string operator()(const ObservedProfile& r) const { return observedKey(r.user, r.application); }
  std::string operator()(const Cron& r) const { return cronKey(r.user, r.spec.name); }
  std::string operator()(const MemberRecord& r) const { return memberKey(r.role, r.name); }
  std::string operator()(const UserRecord& r) const { return userKey(r.name); }
  std::string operator()(const AccountRecord& r) const { return accountKey(r.name); }
  std::string operator()(const TokenRecord& r) const { return tokenKey(r.id); }
  std::string operator()(const AuditRecord& r) const { return auditKey(r.first); }
  std::string operator()(const SecretRecord& r) const { return secretKey(r.owner, r.name); }
};

void writeUnits(const RuSet& units, auto init) {
  const auto members = units.first(units.size());
  convert::writeNumbers<uint16_t>(members, init(static_cast<uint32_t>(members.size())));
}

RuSet readUnits(capnp::List<uint16_t>::Reader from) {
  RuSet units;
  for (const uint16_t ru : from) units.insert(ru);
  return units;
}

void writePool(const late::PoolLease& pool, wire::PoolRecord::Builder to) {
  writeUnits(pool.held, [&to](uint32_t size) { return to.initHeld(size); });
  to.setIncarnation(pool.incarnation);
  to.setSequence(pool.answer.sequence);
  writeUnits(pool.answer.granted, [&to](uint32_t size) { return to.initGranted(size); });
}

late::PoolLease readPool(wire::PoolRecord::Reader from) {
  const uint64_t incarnation = from.getIncarnation();
  return {readUnits(from.getHeld()),
          incarnation,
          {from.getSequence() == 0 ? 0 : incarnation, from.getSequence(), readUnits(from.getGranted())}};
}

struct Encode {
  wire::StoredRecord::Builder to;

  void operator()(const ClusterRecord& r) {
    auto cluster = to.initCluster();
    cluster.setCluster(text(r.cluster));
    cluster.setEpoch(r.epoch);
    cluster.setNextAllocation(r.nextAllocation);
    cluster.setForgottenEpoch(r.forgottenEpoch);
    cluster.setNextJob(r.nextJob);
  }
  void operator()(const ServerRecord& r) {
    auto server = to.initServer();
    server.setId(r.id);
    write(r.facts, server.initFacts());
    server.setMonitor(text(r.monitor));
    server.setCordoned(r.cordoned);
    server.setDraining(r.draining);
    server.setDrainAt(toWire(r.drainAt));
    server.setCordonReason(text(r.cordonReason));
    server.setRemoved(r.removed);
    if (r.pool != late::PoolLease()) writePool(r.pool, server.initPool());
  }
  void operator()(const AgentRecord& r) {
    auto agent = to.initAgent();
    agent.setName(text(r.name));
    agent.setEpoch(r.epoch);
  }
  void operator()(const AnswerRecord& r) {
    auto answer = to.initAnswer();
    answer.setAgent(text(r.agent));
    answer.setEpoch(r.epoch);
    write(r.answer, answer.initAnswer());
  }
  void operator()(const JobRecord& r) { write(r, to.initJob()); }
  void operator()(const JobProgress& r) { write(r, to.initProgress()); }
  void operator()(const TaskRecord& r) { write(r, to.initTask()); }
  void operator()(const DecisionRecord& r) { write(r, to.initDecision()); }
  void operator()(const FilesRecord& r) {
    write(*r.files, to.initFiles(static_cast<uint32_t>(r.files->size())));
  }
  void operator()(const UploadRecord& r) { to.initUpload().setJob(bytesOf(r.job)); }
  void operator()(const PlatformRecord& r) { write(r.name, r.share, to.initPlatform()); }
  void operator()(const QualitySettings& r) { write(r, to.initSettings()); }
  void operator()(const Usage& r) { write(r, to.initUsage()); }
  void operator()(const StoredProfile& r) { write(r, to.initProfile()); }
  void operator()(const Profiling& r) { write(r, to.initProfiling()); }
  void operator()(const ObservedProfile& r) { write(r, to.initObserved()); }
  void operator()(const Cron& r) { write(r, to.initCron()); }
  void operator()(const MemberRecord& r) { write(r, to.initMember()); }
  void operator()(const UserRecord& r) { write(r, to.initUser()); }
  void operator()(const AccountRecord& r) { write(r, to.initAccount()); }
  void operator()(const TokenRecord& r) { write(r, to.initToken()); }
  void operator()(const AuditRecord& r) {
    auto audit = to.initAudit();
    audit.setFirst(r.first);
    audit.setLines(kj::StringPtr(r.lines.data(), r.lines.size()).asBytes());
  }
  void operator()(const SecretRecord& r) { write(r, to.initSecret()); }
};

ServerRecord readServer(wire::ServerRecord::Reader from) {
  return {from.getId(),
          read(from.getFacts()),
          text(from.getMonitor()),
          from.getCordoned(),
          from.getDraining(),
          wallTime(from.getDrainAt()),
          text(from.getCordonReason()),
          from.getRemoved(),
          readPool(from.getPool())};
}

FilesRecord readFiles(std::string_view key, wire::StoredRecord::Reader from) {
  FilesRecord record;
  const size_t withoutNumber = 1 + record.job.bytes.size();
  KJ_REQUIRE(key.size() == withoutNumber || key.size() == withoutNumber + sizeof record.piece,
             "the key of input files has no job id");
  memcpy(record.job.bytes.data(), key.data() + 1, record.job.bytes.size());
  for (const char byte : key.substr(withoutNumber))
    record.piece = record.piece << 8 | static_cast<uint8_t>(byte);
  record.files = std::make_shared<const FilePiece>(read(from.getFiles()));
  return record;
}

}  // namespace

std::string keyOf(const Record& record) {
  return std::visit(KeyOf{}, record);
}

std::string profileKey(const std::string& application, const std::string& owner) {
  const std::string ofAll = prefix(RecordKind::kProfile) + application;
  return owner.empty() ? ofAll : ofAll + '\0' + owner;
}

std::string profilingKey(const std::string& application) {
  return prefix(RecordKind::kProfiling) + application;
}

std::string observedKey(const std::string& user, const std::string& application) {
  return prefix(RecordKind::kObserved) + user + '\0' + application;
}

std::string cronKey(const std::string& user, const std::string& name) {
  return prefix(RecordKind::kCron) + user + '\0' + name;
}

std::string memberKey(MemberRole role, const std::string& name) {
  return prefix(RecordKind::kMember) + std::string(tarcil::name(role)) + '/' + name;
}

std::string userKey(const std::string& user) {
  return prefix(RecordKind::kUser) + user;
}

std::string accountKey(const std::string& account) {
  return prefix(RecordKind::kAccount) + account;
}

std::string tokenKey(uint64_t id) {
  return prefix(RecordKind::kToken) + hexOf(id);
}

std::string auditKey(uint64_t first) {
  std::string key = prefix(RecordKind::kAudit);
  appendNumber(key, first);
  return key;
}

std::string secretKey(const std::string& owner, const std::string& name) {
  return prefix(RecordKind::kSecret) + owner + '\0' + name;
}

std::string agentKey(const std::string& agent) {
  return prefix(RecordKind::kAgent) + agent;
}

std::string answerKey(const std::string& agent, uint64_t epoch, uint64_t sequence) {
  // The zero byte ends the name: no agent's keys begin with another agent's.
  std::string key = prefix(RecordKind::kAnswer) + agent + '\0';
  appendNumber(key, epoch);
  appendNumber(key, sequence);
  return key;
}

std::string jobKey(RecordKind kind, const JobId& job) {
  std::string key = prefix(kind);
  key.append(reinterpret_cast<const char*>(job.bytes.data()), job.bytes.size());
  return key;
}

std::string filePieceKey(const JobId& job, uint32_t piece) {
  std::string key = jobKey(RecordKind::kFiles, job);
  return piece == 0 ? key : numbered(std::move(key), piece);
}

std::string encodeRecord(const Record& record) {
  capnp::MallocMessageBuilder message(256);
  auto stored = message.initRoot<wire::StoredRecord>();
  stored.setFormatVersion(wire::FORMAT_VERSION);
  std::visit(Encode{stored}, record);
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asChars();
  return std::string(bytes.begin(), bytes.size());
}

Record decodeRecord(std::string_view key, std::string_view value) {
  // RocksDB's memory need not be aligned to words.
  auto words = kj::heapArray<capnp::word>(value.size() / sizeof(capnp::word));
  memcpy(words.begin(), value.data(), words.asBytes().size());
  capnp::ReaderOptions options;
  options.traversalLimitInWords = kMaxInputBytes;  // far above any record
  capnp::FlatArrayMessageReader message(words, options);
  const auto stored = message.getRoot<wire::StoredRecord>();
  if (const uint32_t format = stored.getFormatVersion(); format > wire::FORMAT_VERSION) {
    kj::throwFatalException(kj::Exception(
        kj::Exception::Type::FAILED, __FILE__, __LINE__,
        kj::str("it was written by a newer version of tarcil (format ", format, ", known here: up to ",
                static_cast<uint32_t>(wire::FORMAT_VERSION), "); use that version")));
  }
  switch (stored.which()) {
    case wire::StoredRecord::CLUSTER: {
      const auto from = stored.getCluster();
      return ClusterRecord{text(from.getCluster()), from.getEpoch(), from.getNextAllocation(),
                           from.getForgottenEpoch(), from.getNextJob()};
    }
    case wire::StoredRecord::SERVER:
      return readServer(stored.getServer());
    case wire::StoredRecord::AGENT:
      return AgentRecord{text(stored.getAgent().getName()), stored.getAgent().getEpoch()};
    case wire::StoredRecord::ANSWER: {
      const auto from = stored.getAnswer();
      return AnswerRecord{text(from.getAgent()), from.getEpoch(), read(from.getAnswer())};
    }
    case wire::StoredRecord::JOB:
      return read(stored.getJob());
    case wire::StoredRecord::PROGRESS:
      return read(stored.getProgress());
    case wire::StoredRecord::TASK:
      return read(stored.getTask());
    case wire::StoredRecord::DECISION:
      return read(stored.getDecision());
    case wire::StoredRecord::FILES:
      return readFiles(key, stored);
    case wire::StoredRecord::UPLOAD:
      return UploadRecord{readJobId(stored.getUpload().getJob())};
    case wire::StoredRecord::PLATFORM:
      return PlatformRecord{text(stored.getPlatform().getName()), readShare(stored.getPlatform())};
    case wire::StoredRecord::SETTINGS:
      return read(stored.getSettings());
    case wire::StoredRecord::USAGE:
      return read(stored.getUsage());
    case wire::StoredRecord::PROFILE:
      return read(stored.getProfile());
    case wire::StoredRecord::PROFILING:
      return read(stored.getProfiling());
    case wire::StoredRecord::OBSERVED:
      return read(stored.getObserved());
    case wire::StoredRecord::MEMBER:
      return read(stored.getMember());
    case wire::StoredRecord::USER:
      return read(stored.getUser());
    case wire::StoredRecord::ACCOUNT:
      return read(stored.getAccount());
    case wire::StoredRecord::TOKEN:
      return read(stored.getToken());
    case wire::StoredRecord::AUDIT: {
      const auto lines = stored.getAudit().getLines().asChars();
      return AuditRecord{stored.getAudit().getFirst(), std::string(lines.begin(), lines.size())};
    }
    case wire::StoredRecord::SECRET:
      return read(stored.getSecret());
    case wire::StoredRecord::CRON:
      return read(stored.getCron());
  }
  KJ_FAIL_REQUIRE("a record of an unknown kind", static_cast<int>(stored.which()));
}

}  // namespace tarcil
