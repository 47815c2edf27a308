#include "monitor/container/task_results.h"

#include <fcntl.h>
#include <kj/io.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "monitor/container/own_files.h"
#include "monitor/container/result_search.h"
#include "monitor/container/tree_removal.h"

namespace tarcil {
namespace {

std::string errorText() {
  return std::generic_category().message(errno);
}

Error resultFailure(const std::string& what, const std::string& path) {
  return {ErrorCode::kInternal, "cannot " + what + " '" + path + "': " + errorText()};
}

kj::AutoCloseFd openResultFolder(const std::string& path) {
  return kj::AutoCloseFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Below `top`, over no link and onto no other file system.
kj::AutoCloseFd openBelow(int top, const std::string& path, uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return kj::AutoCloseFd(static_cast<int>(::syscall(SYS_openat2, top, path.c_str(), &how, sizeof how)));
}

// The folder that a path leads to, "." where there is none, and the name there.
std::pair<std::string, std::string> folderAndName(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// The folder is nobody else's, so nothing in it changes meanwhile.
bool makeFolders(int top, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (::mkdirat(top, path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
  }
  return true;
}

class Keeping final {
 public:
  Keeping(std::string directory, uid_t user, int work, int results)
      : directory_(std::move(directory)), user_(user), work_(work), results_(results) {}

  // Where it fits.
  void keep(const std::string& path, const ResultFile& seen) {
    const bool fits = kept_.files.size() < kMaxResultFiles && bytes_ + seen.bytes <= kMaxResultBytes;
    if (fits && !move(path)) {
      if (problem_.empty()) problem_ = "result file " + shown(path) + " cannot be kept: " + errorText();
    } else if (!fits || !take(path)) {
      leave(path);
    }
  }

  KeptResults result(const ResultSearch& search) && {
    left_ += search.more();
    const auto say = [this](const std::string& text) {
      kept_.left += (kept_.left.empty() ? "" : "; ") + text;
    };
    if (left_ > 0) {
      say("result files left behind: " + std::to_string(left_) + ", " + shown(firstLeft_) +
          " the first; at most " + std::to_string(kMaxResultFiles) + " files and " +
          formatSize(kMaxResultBytes) + " of a task are kept");
    }
    if (search.isCutShort()) {
      say("not everything was searched for result files: it stops after " +
          std::to_string(ResultSearch::kMaxEntries) + " entries of folders, or 10s; name folders in results");
    }
    if (!search.tooLong().empty()) {
      say("result file " + shown(search.tooLong()) + " was left: its path has more than " +
          std::to_string(kMaxResultPathBytes) + " bytes");
    }
    if (!search.foreign().empty()) {
      say("result file " + shown(search.foreign()) + " was left: it is another user's");
    }
    if (!problem_.empty()) say(problem_);
    return std::move(kept_);
  }

 private:
  void leave(const std::string& path) {
    if (left_++ == 0) firstLeft_ = path;
  }

  // False, with errno. One that a predecessor moved is where it belongs.
  bool move(const std::string& path) {
    const auto [folder, name] = folderAndName(path);
    const kj::AutoCloseFd from = openBelow(work_, folder, O_PATH | O_DIRECTORY);
    const bool isThere = from.get() >= 0 && ::faccessat(from, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (!isThere && ::faccessat(results_, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (!isThere || !makeFolders(results_, path)) return false;
    return ::renameat2(from, name.c_str(), results_, path.c_str(), RENAME_NOREPLACE) == 0;
  }

  // As it is now: a process with which the task shared its folder may have changed it. False: it is not kept.
  bool take(const std::string& path) {
    struct stat file {};
    const bool isSeen = ::fstatat(results_, path.c_str(), &file, AT_SYMLINK_NOFOLLOW) == 0;
    const auto size = static_cast<uint64_t>(file.st_size);
    if (isSeen && S_ISREG(file.st_mode) && file.st_uid == user_ && bytes_ + size <= kMaxResultBytes) {
      kept_.files.push_back({path, size, file.st_mode & 0777});
      bytes_ += size;
      return true;
    }
    removeTree(directory_ + kResultsFolder + "/" + path);
    return false;
  }

  const std::string directory_;
  const uid_t user_;
  const int work_, results_;
  KeptResults kept_{};
  uint64_t bytes_ = 0;
  uint64_t left_ = 0;
  std::string firstLeft_, problem_;
};

// Of a task that ended, or was forgotten since.
Result<std::string> taskFolderOf(const std::string& dataDirectory, AllocationId allocation) {
  for (const char* place : {"/tasks/", "/done/"}) {
    std::string directory = dataDirectory + place + std::to_string(allocation);
    if (::access(directory.c_str(), F_OK) == 0) return directory;
  }
  return notFound("what allocation " + std::to_string(allocation) + " left is not kept here (any more)");
}

}  // namespace

std::string keepResults(const std::string& taskDirectory, const std::vector<std::string>& patterns,
                        const Clock& clock) {
  const kj::AutoCloseFd work = openResultFolder(taskDirectory + "/work");
  struct stat owner {};
  if (work.get() < 0 || ::fstat(work, &owner) != 0) {
    return "its result files cannot be kept: " + resultFailure("open", taskDirectory + "/work").message;
  }
  const std::string to = taskDirectory + kResultsFolder;
  if (::mkdir(to.c_str(), 0700) != 0 && errno != EEXIST) {
    return "its result files cannot be kept: " + resultFailure("make the folder", to).message;
  }
  const kj::AutoCloseFd results = openResultFolder(to);
  if (results.get() < 0) return "its result files cannot be kept: " + resultFailure("open", to).message;
  ResultSearch search(patterns, owner.st_uid, clock);
  search.look(results);  // what a predecessor has moved before it was killed
  search.look(work);
  Keeping keeping(taskDirectory, owner.st_uid, work, results);
  for (const auto& [path, file] : search.found()) keeping.keep(path, file);
  const KeptResults kept = std::move(keeping).result(search);
  const std::string list = taskDirectory + kResultsList;
  if (replaceOwnFile(list, resultsRecord(kept))) return kept.left;
  return "its result files cannot be kept: " + resultFailure("write", list).message;
}

std::optional<KeptResults> keptResults(const std::string& taskDirectory) {
  const auto text = readOwnFile(taskDirectory + kResultsList);
  return text ? parseResultsRecord(*text) : std::nullopt;
}

std::string resultsRecord(const KeptResults& kept) {
  std::string text = kept.left + '\0';
  for (const ResultFile& file : kept.files) {
    char mode[8];
    const auto end = std::to_chars(mode, mode + sizeof mode, file.mode & 0777, 8).ptr;
    text += std::to_string(file.bytes) + " " + std::string(mode, end) + " " + file.path + '\0';
  }
  return text;
}

std::optional<KeptResults> parseResultsRecord(std::string_view text) {
  const size_t first = text.find('\0');
  if (first == std::string_view::npos) return std::nullopt;
  KeptResults kept{{}, std::string(text.substr(0, first))};
  for (text.remove_prefix(first + 1); !text.empty();) {
    const size_t end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    ResultFile file;
    const char* const stop = line.data() + line.size();
    const auto size = std::from_chars(line.data(), stop, file.bytes);
    if (size.ec != std::errc() || size.ptr == stop || *size.ptr != ' ') return std::nullopt;
    const auto mode = std::from_chars(size.ptr + 1, stop, file.mode, 8);
    if (mode.ec != std::errc() || mode.ptr == stop || *mode.ptr != ' ' || file.mode > 0777)
      return std::nullopt;
    file.path.assign(mode.ptr + 1, stop);
    if (!staysInside(file.path)) return std::nullopt;
    kept.files.push_back(std::move(file));
  }
  return kept;
}

Result<ResultsPage> listResults(const std::string& dataDirectory, AllocationId allocation,
                                const std::string& after) {
  const auto folder = taskFolderOf(dataDirectory, allocation);
  if (!folder) return folder.error();
  auto kept = keptResults(*folder);
  ResultsPage page;
  if (!kept) return page;
  std::vector<ResultFile>& files = kept->files;
  const auto begin =
      std::upper_bound(files.begin(), files.end(), after,
                       [](const std::string& path, const ResultFile& file) { return path < file.path; });
  const auto count = std::min<size_t>(kMaxResultsPage, static_cast<size_t>(files.end() - begin));
  page.more = static_cast<size_t>(files.end() - begin) > count;
  page.files.assign(std::make_move_iterator(begin),
                    std::make_move_iterator(begin + static_cast<ptrdiff_t>(count)));
  return page;
}

Result<std::string> readResult(const std::string& dataDirectory, AllocationId allocation,
                               const std::string& path, uint64_t offset, size_t max) {
  const auto folder = taskFolderOf(dataDirectory, allocation);
  if (!folder) return folder.error();
  const auto none = [&path] { return notFound("the task has no result file " + shown(path)); };
  const kj::AutoCloseFd results = openResultFolder(*folder + kResultsFolder);
  if (results.get() < 0 || !staysInside(path)) return none();
  const kj::AutoCloseFd fd = openBelow(results, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat file {};
  if (fd.get() < 0 || ::fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return none();
  return readBytes(path, fd, offset, max);
}

}  // namespace tarcil
