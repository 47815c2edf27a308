#include "master/store/memory_store.h"

namespace tarcil {
namespace {

template <typename Map>
auto valuesOf(const Map& map) {
  std::vector<typename Map::mapped_type> values;
  values.reserve(map.size());
  for (const auto& [key, value] : map) values.push_back(value);
  return values;
}

// Erases every key (job, number).
template <typename Map>
void eraseOfJob(Map& map, const JobId& job) {
  map.erase(map.lower_bound({job, 0}), map.upper_bound({job, UINT32_MAX}));
}

}  // namespace

Result<StoreContents> MemoryStore::load() {
  StoreContents contents;
  contents.cluster = cluster_;
  contents.settings = settings_;
  contents.servers = valuesOf(servers_);
  contents.agents = valuesOf(agents_);
  contents.answers = valuesOf(answers_);
  contents.platforms = valuesOf(platforms_);
  for (const auto& [id, job] : jobs_) contents.jobs.push_back(job);
  contents.progress = valuesOf(progress_);
  for (const auto& [key, task] : tasks_) contents.tasks.push_back(task);
  contents.usage = valuesOf(usage_);
  contents.profiles = valuesOf(profiles_);
  contents.profilings = valuesOf(profilings_);
  contents.observed = valuesOf(observed_);
  contents.uploads = valuesOf(uploads_);
  contents.crons = valuesOf(crons_);
  contents.members = valuesOf(members_);
  contents.users = valuesOf(users_);
  contents.accounts = valuesOf(accounts_);
  contents.tokens = valuesOf(tokens_);
  contents.audit = valuesOf(audit_);
  contents.secrets = valuesOf(secrets_);
  return contents;
}

Status MemoryStore::write(std::span<const Mutation> mutations) {
  for (const Mutation& mutation : mutations) {
    std::visit([this](const auto& m) { apply(m); }, mutation);
  }
  return {};
}

Result<FilePiece> MemoryStore::filePiece(const JobId& job, uint32_t piece) {
  const auto found = files_.find({job, piece});
  return found == files_.end() ? FilePiece{} : *found->second;
}

Result<std::vector<DecisionRecord>> MemoryStore::decisions(const JobId& job) {
  std::vector<DecisionRecord> records;
  for (auto it = decisions_.lower_bound({job, 0}); it != decisions_.end() && it->first.first == job; ++it) {
    records.push_back(it->second);
  }
  return records;
}

Status MemoryStore::backup(const std::string&) {
  return invalid("a store in memory cannot be backed up");
}

void MemoryStore::apply(const Put& mutation) {
  std::visit([this](const auto& record) { put(record); }, mutation.record);
}

void MemoryStore::apply(const EraseAnswer& erase) {
  answers_.erase({erase.agent, erase.epoch, erase.sequence});
}

void MemoryStore::apply(const EraseFiles& erase) {
  eraseOfJob(files_, erase.job);
}

void MemoryStore::apply(const EraseJob& erase) {
  jobs_.erase(erase.job);
  progress_.erase(erase.job);
  eraseOfJob(files_, erase.job);
  eraseOfJob(tasks_, erase.job);
  eraseOfJob(decisions_, erase.job);
}

}  // namespace tarcil
