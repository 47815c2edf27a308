#include "master/logic/jobs/uploads.h"

#include "core/base/units.h"
#include "master/logic/jobs/acceptance.h"
#include "master/logic/queue/offers.h"

namespace tarcil::master {
namespace {

Status mayBegin(const Tables& tables, const PieceArrived& event) {
  if (Status good = PieceCounter::check(event.bytes); !good) return good;
  std::string problem = tooManyFiles(tables, event.user, countedBytes(event.bytes));
  if (problem.empty()) problem = whyNoNewJobs(tables);
  if (problem.empty()) return {};
  return Error{ErrorCode::kExhausted, std::move(problem)};
}

// The upload that the piece is the next of.
Result<Upload*> uploadOf(EventContext& context, const PieceArrived& event) {
  UploadTable& uploads = context.tables.uploads;
  Upload* upload = uploads.find(event.job);
  if (upload != nullptr && upload->session != event.session) {
    return Error{ErrorCode::kConflict, "another agent sends input files of this job; try again"};
  }
  if (event.number == 0) {
    dropUpload(context, event.job);
    if (Status status = mayBegin(context.tables, event); !status) return status.error();
    context.out.put(UploadRecord{event.job});
    return &uploads.begin(event.job, event.session, event.user, event.bytes);
  }
  const uint32_t next = upload == nullptr ? 0 : upload->counter.pieces();
  if (next != event.number) return invalid("files: piece " + std::to_string(next) + " is missing");
  return upload;
}

// Whether the job is there already.
Result<bool> store(EventContext& context, const PieceArrived& event) {
  Tables& tables = context.tables;
  if (tables.agents.attached(event.session) == nullptr) {
    return Error{ErrorCode::kConflict, "the connection does not speak for an agent"};
  }
  if (const Job* job = tables.jobs.find(event.job)) {
    if (job->record.user == event.user) return true;
    return invalid("this job id is taken; submit with a new one");
  }
  const Result<Upload*> upload = uploadOf(context, event);
  if (!upload) return upload.error();
  if (Status counted = (*upload)->counter.add(*event.files); !counted) {
    dropUpload(context, event.job);
    return counted.error();
  }
  tables.uploads.touch(event.job, context.now.steady);
  context.out.put(FilesRecord{event.job, event.files, event.number});
  return false;
}

}  // namespace

void takePiece(EventContext& context, const PieceArrived& event) {
  noteSignOfLife(context, event.session);
  context.out.send(AnswerPiece{event.request, store(context, event)});
}

std::string tooManyFiles(const Tables& tables, const std::string& user, uint64_t bytes) {
  if (bytes == 0) return {};
  const MasterOptions& options = tables.options;
  const std::string with = "with those of this job, of " + formatSize(bytes) + ", the input files of ";
  if (tables.jobs.fileBytesOf(user) + tables.uploads.bytesOf(user) + bytes > options.maxFileBytesOfUser) {
    return with + "the unfinished jobs of " + user + " would take more than " +
           formatSize(options.maxFileBytesOfUser) + " (the master's --max-files-size-of-user); " + kTryAgain;
  }
  if (tables.jobs.fileBytes() + tables.uploads.bytes() + bytes > options.maxFileBytes) {
    return with + "unfinished jobs would take more than " + formatSize(options.maxFileBytes) +
           " (the master's --max-files-size); " + kTryAgain;
  }
  return {};
}

bool hasUpload(Tables& tables, SessionId session, const JobRecord& job) {
  const Upload* upload = tables.uploads.find(job.id);
  if (upload == nullptr || upload->session != session || upload->user != job.user) return false;
  const PieceCounter& counter = upload->counter;
  return counter.isWhole() && counter.pieces() == job.filePieces && counter.announced() == job.fileBytes;
}

void giveUpload(EventContext& context, const JobId& job) {
  context.tables.uploads.erase(job);
  context.out.erase(EraseUpload{job});
}

void dropUpload(EventContext& context, const JobId& job) {
  if (context.tables.uploads.find(job) == nullptr) return;
  context.tables.uploads.erase(job);
  context.out.erase(EraseFiles{job});
  context.out.erase(EraseUpload{job});
}

void dropUploads(EventContext& context, SessionId session) {
  for (const JobId& job : context.tables.uploads.ofSession(session)) dropUpload(context, job);
}

void dropOverdueUploads(EventContext& context) {
  for (const JobId& job : context.tables.uploads.takeDue(context.now.steady)) dropUpload(context, job);
}

}  // namespace tarcil::master
