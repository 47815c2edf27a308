#include "monitor/container/result_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <kj/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>

namespace tarcil {
namespace {

using Directory = std::unique_ptr<DIR, decltype([](DIR* directory) { ::closedir(directory); })>;

std::vector<std::vector<std::string>> patternPartsOf(const std::vector<std::string>& patterns) {
  std::vector<std::vector<std::string>> result;
  for (const std::string& pattern : patterns) {
    auto& parts = result.emplace_back();
    for (size_t from = 0; from <= pattern.size();) {
      const size_t to = std::min(pattern.find('/', from), pattern.size());
      parts.push_back(pattern.substr(from, to - from));
      from = to + 1;
    }
  }
  return result;
}

bool isName(const std::string& part) {
  return part.find_first_of("*?[\\") == std::string::npos;
}

// By its own descriptor, so that it begins at the beginning.
Directory openedAnew(int folder) {
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  Directory directory(::fdopendir(fd));
  if (!directory) ::close(fd);
  return directory;
}

}  // namespace

ResultSearch::ResultSearch(const std::vector<std::string>& patterns, uid_t user, const Clock& clock)
    : patterns_(patternPartsOf(patterns)), user_(user), clock_(clock), end_(clock.now().steady + kMaxTime) {}

void ResultSearch::look(int top) {
  Indexes all(patterns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  lookInto(top, "", 0, all);
}

bool ResultSearch::spend() {
  isCutShort_ = isCutShort_ || ++entries_ > kMaxEntries || clock_.now().steady >= end_;
  return !isCutShort_;
}

// Where all of the next parts are names, these are looked for: the folder may have a million others.
void ResultSearch::lookInto(int folder, const std::string& path, size_t depth, const Indexes& active) {
  const auto part = [this, depth](size_t i) -> const std::string& { return patterns_[i][depth]; };
  if (std::ranges::all_of(active, [&part](size_t i) { return isName(part(i)); })) {
    std::set<std::string> names;
    for (const size_t i : active) names.insert(part(i));
    for (const std::string& name : names) {
      if (spend()) lookAt(folder, path, name.c_str(), depth, active);
    }
    return;
  }
  const Directory directory = openedAnew(folder);
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!spend()) return;
    lookAt(folder, path, entry->d_name, depth, active);
  }
}

void ResultSearch::lookAt(int folder, const std::string& path, const char* name, size_t depth,
                          const Indexes& active) {
  Indexes further;
  bool isWanted = false;
  for (const size_t i : active) {
    const auto& parts = patterns_[i];
    if (::fnmatch(parts[depth].c_str(), name, FNM_PATHNAME) != 0) continue;
    if (depth + 1 == parts.size()) {
      isWanted = true;
    } else {
      further.push_back(i);
    }
  }
  if (!isWanted && further.empty()) return;
  struct stat status {
  }, around{};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || ::fstat(folder, &around) != 0) return;
  const std::string own = path.empty() ? name : path + "/" + name;
  if (S_ISREG(status.st_mode) && isWanted) note(own, status);
  if (!S_ISDIR(status.st_mode) || further.empty() || status.st_dev != around.st_dev) return;
  const kj::AutoCloseFd next(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (next.get() >= 0) lookInto(next, own, depth + 1, further);
}

void ResultSearch::note(const std::string& path, const struct stat& file) {
  if (file.st_uid != user_) {
    if (foreign_.empty()) foreign_ = path;
    return;
  }
  if (path.size() > kMaxResultPathBytes) {
    if (tooLong_.empty()) tooLong_ = path;
    return;
  }
  found_.insert_or_assign(path, ResultFile{{}, static_cast<uint64_t>(file.st_size), file.st_mode & 0777});
  if (found_.size() <= kMaxFound) return;
  found_.erase(std::prev(found_.end()));
  ++more_;
}

}  // namespace tarcil
