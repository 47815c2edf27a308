#include "master/store/codec/store_change.h"

#include <kj/encoding.h>
#include <kj/exception.h>

namespace tarcil {
namespace {

struct Collect {
  StoreContents& to;

  void operator()(ClusterRecord&& r) { to.cluster = std::move(r); }
  void operator()(QualitySettings&& r) { to.settings = r; }
  void operator()(ServerRecord&& r) { to.servers.push_back(std::move(r)); }
  void operator()(AgentRecord&& r) { to.agents.push_back(std::move(r)); }
  void operator()(AnswerRecord&& r) { to.answers.push_back(std::move(r)); }
  void operator()(PlatformRecord&& r) { to.platforms.push_back(std::move(r)); }
  void operator()(JobRecord&& r) { to.jobs.push_back(std::move(r)); }
  void operator()(JobProgress&& r) { to.progress.push_back(std::move(r)); }
  void operator()(TaskRecord&& r) { to.tasks.push_back(std::move(r)); }
  void operator()(DecisionRecord&&) {}
  void operator()(Usage&& r) { to.usage.push_back(std::move(r)); }
  void operator()(StoredProfile&& r) { to.profiles.push_back(std::move(r)); }
  void operator()(Profiling&& r) { to.profilings.push_back(std::move(r)); }
  void operator()(ObservedProfile&& r) { to.observed.push_back(std::move(r)); }
  void operator()(FilesRecord&&) {}
  void operator()(UploadRecord&& r) { to.uploads.push_back(r); }
  void operator()(Cron&& r) { to.crons.push_back(std::move(r)); }
  void operator()(MemberRecord&& r) { to.members.push_back(std::move(r)); }
  void operator()(UserRecord&& r) { to.users.push_back(std::move(r)); }
  void operator()(AccountRecord&& r) { to.accounts.push_back(std::move(r)); }
  void operator()(TokenRecord&& r) { to.tokens.push_back(std::move(r)); }
  void operator()(AuditRecord&& r) { to.audit.push_back(std::move(r)); }
  void operator()(SecretRecord&& r) { to.secrets.push_back(std::move(r)); }
};

// As changes of a store that is ordered by keys.
struct AddTo {
  ChangeSink& to;

  void operator()(const Put& put) const { to.put(keyOf(put.record), encodeRecord(put.record)); }
  void operator()(const EraseAgent& erase) const { to.erase(agentKey(erase.name)); }
  void operator()(const EraseAnswer& erase) const {
    to.erase(answerKey(erase.agent, erase.epoch, erase.sequence));
  }
  void operator()(const EraseProfile& erase) const { to.erase(profileKey(erase.application, erase.owner)); }
  void operator()(const EraseProfiling& erase) const { to.erase(profilingKey(erase.application)); }
  void operator()(const EraseObserved& erase) const { to.erase(observedKey(erase.user, erase.application)); }
  void operator()(const EraseCron& erase) const { to.erase(cronKey(erase.user, erase.name)); }
  void operator()(const EraseMember& erase) const { to.erase(memberKey(erase.role, erase.name)); }
  void operator()(const EraseUser& erase) const { to.erase(userKey(erase.name)); }
  void operator()(const EraseAccount& erase) const { to.erase(accountKey(erase.name)); }
  void operator()(const EraseToken& erase) const { to.erase(tokenKey(erase.id)); }
  void operator()(const EraseAudit& erase) const { to.erase(auditKey(erase.first)); }
  void operator()(const EraseSecret& erase) const { to.erase(secretKey(erase.owner, erase.name)); }
  void operator()(const EraseUpload& erase) const { to.erase(jobKey(RecordKind::kUpload, erase.job)); }
  void operator()(const EraseFiles& erase) const { eraseAll(RecordKind::kFiles, erase.job); }
  void operator()(const EraseJob& erase) const {
    for (RecordKind kind : {RecordKind::kJob, RecordKind::kProgress}) to.erase(jobKey(kind, erase.job));
    for (RecordKind kind : {RecordKind::kTask, RecordKind::kDecision, RecordKind::kFiles}) {
      eraseAll(kind, erase.job);
    }
  }

  // Of all records of a kind.
  void eraseAll(RecordKind kind, const JobId& job) const {
    const std::string begin = jobKey(kind, job);
    // Keys of a job end in four bytes of a number; five bytes of ones are beyond all of them.
    to.eraseRange(begin, begin + std::string(5, '\xff'));
  }
};

// The letter, and the rest in hexadecimal digits: of a record that does not say what it is.
std::string rawKey(std::string_view key) {
  if (key.empty()) return "";
  const std::string_view rest = key.substr(1);
  const kj::ArrayPtr<const char> chars(rest.data(), rest.size());
  return std::string(1, key.front()) + "/" + kj::encodeHex(chars.asBytes()).cStr();
}

}  // namespace

void addChanges(const Mutation& mutation, ChangeSink& to) {
  std::visit(AddTo{to}, mutation);
}

void collect(Record&& record, StoreContents& to) {
  std::visit(Collect{to}, std::move(record));
}

std::optional<StoreProblem> takeRecord(std::string_view key, std::string_view value, WholeStore& to) {
  std::optional<StoreProblem> problem;
  auto failure = kj::runCatchingExceptions([&]() {
    Record record = decodeRecord(key, value);
    if (keyOf(record) != key) {
      problem = {rawKey(key), "holds the record of " + readableKey(record)};
    } else if (auto* decision = std::get_if<DecisionRecord>(&record)) {
      to.decisions.push_back(std::move(*decision));
    } else if (const auto* files = std::get_if<FilesRecord>(&record)) {
      to.files.push_back({files->job, files->piece});
    } else {
      collect(std::move(record), to.contents);
    }
  });
  KJ_IF_MAYBE (exception, failure) {
    const auto text = exception->getDescription();
    problem = {rawKey(key), "cannot be read: " + std::string(text.begin(), text.size())};
  }
  return problem;
}

}  // namespace tarcil
