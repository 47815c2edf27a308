#include "agent/server/held_files.h"

#include "core/model/job_size.h"

namespace tarcil {

Result<InputFiles> HeldFiles::hold(const std::string& user, std::vector<InputFile> files) {
  const uint64_t bytes = sizeOf(files);
  const auto found = held_->ofUser.find(user);
  const uint64_t before = found == held_->ofUser.end() ? 0 : found->second;
  if (before + bytes > most_.ofUser || held_->bytes + bytes > most_.inAll) {
    const bool isOwn = before + bytes > most_.ofUser;
    return Error{ErrorCode::kExhausted, "with this job's, this agent would hold more input files" +
                                            (isOwn ? " of " + user : "") +
                                            " that are on their way to the master than it may; " + kTryAgain};
  }
  held_->bytes += bytes;
  held_->ofUser[user] += bytes;
  const auto letGo = [held = held_, user, bytes](const std::vector<InputFile>* gone) {
    held->bytes -= bytes;
    const auto own = held->ofUser.find(user);
    own->second -= bytes;
    if (own->second == 0) held->ofUser.erase(own);
    delete gone;
  };
  return InputFiles(new std::vector(std::move(files)), letGo);
}

}  // namespace tarcil
