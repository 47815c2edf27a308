// A Store in memory: for tests and for the simulator. What is written is durable as long as the object lives.
#pragma once

#include <map>
#include <tuple>

#include "master/store/store.h"

namespace tarcil {

class MemoryStore final : public Store {
 public:
  Result<StoreContents> load() override;
  Status write(std::span<const Mutation> mutations) override;
  Result<FilePiece> filePiece(const JobId& job, uint32_t piece) override;
  Result<std::vector<DecisionRecord>> decisions(const JobId& job) override;
  // Has no files to copy: always Invalid.
  Status backup(const std::string& folder) override;
  // Unlimited.
  Result<StoreSpace> space() override { return StoreSpace{.free = UINT64_MAX}; }

 private:
  using AnswerKey = std::tuple<std::string, uint64_t, uint64_t>;  // agent, epoch, sequence
  using TaskKey = std::pair<JobId, TaskIndex>;
  using DecisionKey = std::pair<JobId, uint32_t>;
  using PieceKey = std::pair<JobId, uint32_t>;

  void apply(const Put& put);
  void apply(const EraseAgent& erase) { agents_.erase(erase.name); }
  void apply(const EraseAnswer& erase);
  void apply(const EraseJob& erase);
  void apply(const EraseFiles& erase);
  void apply(const EraseUpload& erase) { uploads_.erase(erase.job); }
  void apply(const EraseProfile& erase) { profiles_.erase({erase.owner, erase.application}); }
  void apply(const EraseProfiling& erase) { profilings_.erase(erase.application); }
  void apply(const EraseObserved& erase) { observed_.erase({erase.user, erase.application}); }
  void apply(const EraseCron& erase) { crons_.erase({erase.user, erase.name}); }
  void apply(const EraseUser& erase) { users_.erase(erase.name); }
  void apply(const EraseAccount& erase) { accounts_.erase(erase.name); }
  void apply(const EraseToken& erase) { tokens_.erase(erase.id); }
  void apply(const EraseAudit& erase) { audit_.erase(erase.first); }
  void apply(const EraseSecret& erase) { secrets_.erase({erase.owner, erase.name}); }
  void apply(const EraseMember& erase) { members_.erase({erase.role, erase.name}); }

  void put(const ClusterRecord& record) { cluster_ = record; }
  void put(const QualitySettings& record) { settings_ = record; }
  void put(const ServerRecord& record) { servers_[record.id] = record; }
  void put(const AgentRecord& record) { agents_[record.name] = record; }
  void put(const AnswerRecord& record) {
    answers_[{record.agent, record.epoch, record.answer.sequence}] = record;
  }
  void put(const PlatformRecord& record) { platforms_[record.name] = record; }
  void put(const JobRecord& record) { jobs_[record.id] = record; }
  void put(const JobProgress& record) { progress_[record.id] = record; }
  void put(const TaskRecord& record) { tasks_[{record.job, record.index}] = record; }
  void put(const DecisionRecord& record) { decisions_[{record.job, record.number}] = record; }
  void put(const Usage& record) { usage_[record.user] = record; }
  void put(const StoredProfile& record) { profiles_[{record.owner(), record.profile.application}] = record; }
  void put(const Profiling& record) { profilings_[record.application] = record; }
  void put(const ObservedProfile& record) { observed_[{record.user, record.application}] = record; }
  void put(const Cron& record) { crons_[{record.user, record.spec.name}] = record; }
  void put(const MemberRecord& record) { members_[{record.role, record.name}] = record; }
  void put(const UserRecord& record) { users_[record.name] = record; }
  void put(const AccountRecord& record) { accounts_[record.name] = record; }
  void put(const TokenRecord& record) { tokens_[record.id] = record; }
  void put(const AuditRecord& record) { audit_[record.first] = record; }
  void put(const SecretRecord& record) { secrets_[{record.owner, record.name}] = record; }
  void put(const FilesRecord& record) { files_[{record.job, record.piece}] = record.files; }
  void put(const UploadRecord& record) { uploads_[record.job] = record; }

  std::optional<ClusterRecord> cluster_;
  std::optional<QualitySettings> settings_;
  std::map<ServerId, ServerRecord> servers_;
  std::map<std::string, AgentRecord> agents_;
  std::map<AnswerKey, AnswerRecord> answers_;
  std::map<std::string, PlatformRecord> platforms_;
  std::map<std::string, Usage> usage_;
  std::map<std::pair<std::string, std::string>, StoredProfile> profiles_;
  std::map<std::string, Profiling> profilings_;
  std::map<std::pair<std::string, std::string>, ObservedProfile> observed_;
  std::map<std::pair<std::string, std::string>, Cron> crons_;
  std::map<std::pair<MemberRole, std::string>, MemberRecord> members_;
  std::map<std::string, UserRecord> users_;
  std::map<std::string, AccountRecord> accounts_;
  std::map<uint64_t, TokenRecord> tokens_;
  std::map<uint64_t, AuditRecord> audit_;
  std::map<std::pair<std::string, std::string>, SecretRecord> secrets_;
  std::map<JobId, JobRecord> jobs_;
  std::map<JobId, JobProgress> progress_;
  std::map<TaskKey, TaskRecord> tasks_;
  std::map<DecisionKey, DecisionRecord> decisions_;
  std::map<PieceKey, std::shared_ptr<const FilePiece>> files_;
  std::map<JobId, UploadRecord> uploads_;
};

}  // namespace tarcil
