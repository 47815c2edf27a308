#include "master/logic/jobs/upload_table.h"

namespace tarcil::master {
namespace {

// No peer has it.
constexpr SessionId kNobody = 0;

}  // namespace

UploadTable::UploadTable(const std::vector<UploadRecord>& left) {
  for (const UploadRecord& record : left) {
    begin(record.job, kNobody, "", 0);
    due_.set(record.job, MonotonicTime::min());
  }
}

Upload* UploadTable::find(const JobId& job) {
  const auto found = uploads_.find(job);
  return found == uploads_.end() ? nullptr : &found->second;
}

Upload& UploadTable::begin(const JobId& job, SessionId session, const std::string& user, uint64_t announced) {
  bytes_ += countedBytes(announced);
  bytesOf_[user] += countedBytes(announced);
  return uploads_.emplace(job, Upload{session, user, PieceCounter(announced)}).first->second;
}

void UploadTable::erase(const JobId& job) {
  const auto found = uploads_.find(job);
  const uint64_t counted = countedBytes(found->second.counter.announced());
  bytes_ -= counted;
  const auto ofUser = bytesOf_.find(found->second.user);
  ofUser->second -= counted;
  if (ofUser->second == 0) bytesOf_.erase(ofUser);
  uploads_.erase(found);
  due_.clear(job);
}

std::vector<JobId> UploadTable::ofSession(SessionId session) const {
  std::vector<JobId> jobs;
  for (const auto& [job, upload] : uploads_) {
    if (upload.session == session) jobs.push_back(job);
  }
  return jobs;
}

uint64_t UploadTable::bytesOf(const std::string& user) const {
  const auto found = bytesOf_.find(user);
  return found == bytesOf_.end() ? 0 : found->second;
}

}  // namespace tarcil::master
