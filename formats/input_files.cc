#include "formats/input_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

bool isInside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Finds the files first, so that bounds are checked before anything is read.
class Finder {
 public:
  struct Found {
    fs::path real;  // without symbolic links
    uint64_t bytes;
    uint32_t mode;
    const YamlValue* entry;  // that named it first
  };

  Finder(fs::path folder, const InputLimits& limits) : folder_(std::move(folder)), limits_(limits) {}

  const std::map<std::string, Found>& files() const { return files_; }
  bool failed() const { return failed_; }

  void findEntry(const YamlValue& entry) {
    entry_ = &entry;
    auto text = entry.text();
    if (!text) {
      failed_ = true;
      return;
    }
    const fs::path path = fs::path(*text).lexically_normal();
    if (text->empty() || path.is_absolute() || *path.begin() == "..") {
      fail("is " + shown(*text) + "; write a relative path that stays inside the folder");
      return;
    }
    visit(path.has_filename() ? path : path.parent_path());
  }

  // Over all entries; reported at the one that the largest file comes from.
  void checkBytes() {
    uint64_t sum = 0;
    auto largest = files_.begin();
    for (auto it = files_.begin(); it != files_.end(); ++it) {
      sum += it->second.bytes;
      if (it->second.bytes > largest->second.bytes) largest = it;
    }
    if (sum <= limits_.bytes) return;
    entry_ = largest->second.entry;
    fail("the input files hold " + formatSize(sum) + " in all, at most " + formatSize(limits_.bytes) +
         " are shipped; the largest is " + shown(largest->first) + " with " +
         formatSize(largest->second.bytes) + ", keep large data on the servers");
  }

 private:
  // This and the functions below say whether to go on with the current entry.
  bool visit(const fs::path& path) {
    std::error_code failure;
    const fs::path real = fs::canonical(folder_ / path, failure);
    if (failure)
      return fail(shown(path.string()) + " cannot be found: " + failure.message() + "; check the path");
    if (!isInside(real, folder_)) {
      return fail(shown(path.string()) +
                  " leads outside the folder that paths are relative to; copy it there");
    }
    const fs::file_status status = fs::status(real, failure);
    if (fs::is_directory(status)) return visitFolder(path, real);
    if (fs::is_regular_file(status)) return addFile(path, real, status.permissions());
    return fail(shown(path.string()) + " is neither a file nor a folder; name the files one by one");
  }

  bool visitFolder(const fs::path& path, const fs::path& real) {
    if (std::find(above_.begin(), above_.end(), real) != above_.end()) {
      return fail(shown(path.string()) + " is a symbolic link to a folder above it; remove the link");
    }
    if (++folders_ > limits_.files) {
      return fail("there are more than " + std::to_string(limits_.files) + " folders; name fewer");
    }
    std::error_code failure;
    std::vector<fs::path> names;
    for (fs::directory_iterator it(real, failure), end; !failure && it != end; it.increment(failure)) {
      names.push_back(it->path().filename());
      if (names.size() > limits_.files) return failCount(path);
    }
    if (failure) return fail(shown(path.string()) + " cannot be listed: " + failure.message());
    above_.push_back(real);
    const bool goOn = std::all_of(names.begin(), names.end(), [this, &path](const fs::path& name) {
      return visit(path == "." ? name : path / name);
    });
    above_.pop_back();
    return goOn;
  }

  bool addFile(const fs::path& path, const fs::path& real, fs::perms permissions) {
    const std::string name = path.string();
    if (!isPrintable(name)) return fail("a file has the name " + shown(name) + "; use printable UTF-8 names");
    std::error_code failure;
    const uint64_t bytes = fs::file_size(real, failure);
    if (failure) return fail(shown(name) + " cannot be read: " + failure.message());
    const bool isExecutable = (permissions & fs::perms::owner_exec) != fs::perms::none;
    files_.emplace(name, Found{real, bytes, isExecutable ? 0755u : 0644u, entry_});
    return files_.size() <= limits_.files || failCount(path.parent_path());
  }

  bool failCount(const fs::path& where) {
    return fail("there are more than " + std::to_string(limits_.files) + " input files, the last seen in " +
                shown(where.string()) + "; ship an archive instead");
  }

  bool fail(const std::string& problem) {
    entry_->problem(problem);
    failed_ = true;
    return false;
  }

  fs::path folder_;
  InputLimits limits_;
  std::map<std::string, Found> files_;
  const YamlValue* entry_ = nullptr;
  std::vector<fs::path> above_;  // real folders on the way to the one being visited
  uint32_t folders_ = 0;
  bool failed_ = false;
};

// Up to the size that was counted: what is appended meanwhile does not belong to the job.
std::optional<std::string> readContent(const Finder::Found& file) {
  std::ifstream stream(file.real, std::ios::binary);
  std::string content(file.bytes, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!stream.is_open() || stream.bad()) return std::nullopt;
  content.resize(static_cast<size_t>(stream.gcount()));
  return content;
}

}  // namespace

std::vector<InputFile> readInputFiles(const std::vector<YamlValue>& entries, const std::string& folder,
                                      const InputLimits& limits) {
  if (entries.empty()) return {};
  std::error_code failure;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, failure);
  if (failure) {
    entries.front().problem("folder " + shown(folder) +
                            " of the job file cannot be used: " + failure.message());
    return {};
  }
  Finder finder(root, limits);
  for (const YamlValue& entry : entries) finder.findEntry(entry);
  if (!finder.failed()) finder.checkBytes();
  if (finder.failed()) return {};
  std::vector<InputFile> files;
  for (const auto& [path, found] : finder.files()) {
    auto content = readContent(found);
    if (!content) {
      found.entry->problem(shown(path) + " cannot be read; check its permissions");
      return {};
    }
    files.push_back({path, found.mode, std::move(*content)});
  }
  return files;
}

Result<std::vector<InputFile>> inputFilesOf(const char* flag, const std::vector<std::string>& paths,
                                            const InputLimits& limits) {
  Problems problems("command line");
  std::vector<YamlNode> nodes;
  for (const std::string& path : paths) nodes.push_back({.kind = YamlNode::Kind::kScalar, .text = path});
  std::vector<YamlValue> entries;
  for (const YamlNode& node : nodes) entries.emplace_back(node, flag, problems);
  auto files = readInputFiles(entries, ".", limits);
  if (!problems.none()) return problems.error();
  return files;
}

}  // namespace tarcil
