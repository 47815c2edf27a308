// Stored records as bytes: one Cap'n Proto StoredRecord per value, keys that sort as the records are read.
// docs/state-format.md describes both.
#pragma once

#include <string>
#include <string_view>

#include "master/store/store.h"

namespace tarcil {

// First letter of the key of each kind of record.
enum class RecordKind : char {
  kCluster = 'c',
  kSettings = 'g',
  kServer = 's',
  kAgent = 'a',
  kAnswer = 'r',
  kJob = 'j',
  kProgress = 'p',
  kTask = 't',
  kDecision = 'd',
  kFiles = 'f',
  kUpload = 'w',
  kPlatform = 'h',
  kUsage = 'u',
  kProfile = 'q',
  kProfiling = 'm',
  kObserved = 'o',
  kCron = 'k',
  kMember = 'i',
  kUser = 'n',
  kAccount = 'b',
  kToken = 'x',
  kAudit = 'l',
  kSecret = 'e',
};

std::string keyOf(const Record& record);
std::string profileKey(const std::string& application, const std::string& owner);
std::string profilingKey(const std::string& application);
std::string observedKey(const std::string& user, const std::string& application);
std::string cronKey(const std::string& user, const std::string& name);
std::string memberKey(MemberRole role, const std::string& name);
std::string userKey(const std::string& user);
std::string accountKey(const std::string& account);
std::string tokenKey(uint64_t id);
std::string auditKey(uint64_t first);
std::string secretKey(const std::string& owner, const std::string& name);
std::string agentKey(const std::string& agent);
std::string answerKey(const std::string& agent, uint64_t epoch, uint64_t sequence);
// Key, or beginning of the keys, of what belongs to a job.
std::string jobKey(RecordKind kind, const JobId& job);
// The first piece has the job's key alone, as all files had in earlier formats.
std::string filePieceKey(const JobId& job, uint32_t piece);

std::string encodeRecord(const Record& record);

// Throws a kj::Exception for bytes that are no record, or one of a newer format.
Record decodeRecord(std::string_view key, std::string_view value);

}  // namespace tarcil
