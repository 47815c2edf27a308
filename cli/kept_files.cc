#include "cli/kept_files.h"

#include <string>

#include "core/base/failure.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "schema/convert.h"
#include "schema/convert_results.h"

namespace tarcil {
namespace {

Failure untrue(const std::string& what) {
  return {kExitFailed, "the task's server tells of files that it cannot have: " + what +
                           "; nothing of it is believed, tell whoever runs the cluster"};
}

// A server is not to choose where files of its user go.
void check(const std::vector<ResultFile>& files, const std::string& after) {
  const std::string* before = &after;
  for (const ResultFile& file : files) {
    if (!staysInside(file.path)) throw untrue(shown(file.path) + " is not below a task's folder");
    if (!before->empty() && file.path <= *before) throw untrue(shown(file.path) + " is out of order");
    before = &file.path;
  }
}

}  // namespace

std::string modeText(uint32_t mode) {
  std::string text;
  for (int shift = 6; shift >= 0; shift -= 3) text += static_cast<char>('0' + (mode >> shift & 7));
  return text;
}

Json jsonOf(const std::vector<ResultFile>& files) {
  Json list = Json::array();
  for (const ResultFile& file : files)
    list.push_back({{"path", file.path}, {"bytes", file.bytes}, {"mode", modeText(file.mode)}});
  return list;
}

KeptFiles keptFiles(Cluster& cluster, const JobId& job, TaskIndex task) {
  KeptFiles kept;
  for (bool more = true; more;) {
    const std::string after = kept.files.empty() ? "" : kept.files.back().path;
    const auto answer = cluster.ask([&](Session& session) {
      auto request = session.agent.resultFilesRequest();
      request.setId(bytesOf(job));
      request.setTask(task);
      request.setAfter(convert::text(after));
      return request.send();
    });
    if (answer.getAllocation() != kept.allocation) kept = {false, answer.getAllocation(), {}};
    const auto page = read(answer.getFiles());
    check(page, kept.files.empty() ? "" : kept.files.back().path);
    kept.files.insert(kept.files.end(), page.begin(), page.end());
    if (kept.files.size() > kMaxResultFiles) {
      throw untrue("more than " + std::to_string(kMaxResultFiles));
    }
    uint64_t room = kMaxResultBytes;
    for (const ResultFile& file : kept.files) {
      if (file.bytes > room) throw untrue("more than " + formatSize(kMaxResultBytes));
      room -= file.bytes;
    }
    kept.ended = answer.getEnded();
    more = answer.getMore() && !page.empty();
  }
  return kept;
}

std::string readKeptPiece(Cluster& cluster, const JobId& job, TaskIndex task, AllocationId allocation,
                          const std::string& path, uint64_t offset) {
  const auto answer = cluster.ask([&](Session& session) {
    auto request = session.agent.readResultRequest();
    request.setId(bytesOf(job));
    request.setTask(task);
    request.setAllocation(allocation);
    request.setPath(convert::text(path));
    request.setOffset(offset);
    return request.send();
  });
  const auto content = answer.getContent();
  return {reinterpret_cast<const char*>(content.begin()), content.size()};
}

void readKeptFile(Cluster& cluster, const JobId& job, TaskIndex task, AllocationId allocation,
                  const ResultFile& file, const std::function<void(std::string_view)>& sink) {
  for (uint64_t done = 0; done < file.bytes;) {
    const std::string piece = readKeptPiece(cluster, job, task, allocation, file.path, done);
    if (piece.empty() || piece.size() > file.bytes - done) {
      throw Failure(kExitFailed, "file " + shown(file.path) + " of task " + std::to_string(task) +
                                     " is not the " + std::to_string(file.bytes) +
                                     " bytes long that it was; it changed meanwhile, fetch it again");
    }
    sink(piece);
    done += piece.size();
  }
}

}  // namespace tarcil
