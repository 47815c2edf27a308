#include "audit/log_writer.h"

#include <fcntl.h>
#include <kj/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "audit/log_files.h"
#include "env/failpoint.h"

namespace tarcil::audit {
namespace {

constexpr mode_t kOwnersFile = 0600, kOwnersFolder = 0700;

Error failure(const std::string& path, const char* what) {
  return invalid(path + ": " + what + ": " + std::strerror(errno));
}

Status writeAt(int fd, std::string_view text, uint64_t offset) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error{ErrorCode::kInternal, std::strerror(errno)};
    text.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

// Gives `take` the place of each line, and what is behind it. An error where one is no line of a log.
template <typename Take>
Status eachOf(std::string_view lines, Take take) {
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    const auto place = end == std::string_view::npos ? std::nullopt : placeOf(lines.substr(0, end));
    if (!place) return Error{ErrorCode::kInternal, "the store's end of the audit log is damaged"};
    lines.remove_prefix(end + 1);
    take(*place, lines);
  }
  return {};
}

// Of the first and the last of these lines.
std::optional<std::pair<Place, Place>> endsOf(std::string_view lines) {
  if (lines.empty() || lines.back() != '\n') return std::nullopt;
  const auto first = placeOf(lines.substr(0, lines.find('\n')));
  const std::string_view open = lines.substr(0, lines.size() - 1);
  const auto last = placeOf(open.substr(open.rfind('\n') + 1));  // npos + 1 is 0
  if (!first || !last) return std::nullopt;
  return std::pair(*first, *last);
}

struct WrittenFile {
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t last = 0;  // entry
  WallTime changed{};
};

class FilesWriter final : public LogWriter {
 public:
  FilesWriter(std::string folder, const LogOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  Status begin(std::string_view lines) {
    std::error_code ignored;  // what is in the way of the parent is in the way of the folder
    std::filesystem::create_directories(std::filesystem::path(folder_).parent_path(), ignored);
    if (::mkdir(folder_.c_str(), kOwnersFolder) != 0 && errno != EEXIST)
      return failure(folder_, "cannot be made");
    directory_ = kj::AutoCloseFd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory_.get() < 0) return failure(folder_, "cannot be opened");
    head_ = openFile("head");
    if (head_.get() < 0) return failure(folder_ + "/head", "cannot be opened");
    const auto found = filesOf(folder_);
    if (!found) return found.error();
    for (const LogFile& file : *found) {
      struct stat facts {};
      if (::stat(file.path.c_str(), &facts) != 0) return failure(file.path.string(), "cannot be read");
      files_.push_back({file.number, static_cast<uint64_t>(facts.st_size), 0,
                        WallTime(std::chrono::seconds(facts.st_mtim.tv_sec))});
    }
    uint64_t first = UINT64_MAX;
    Status whole = eachOf(lines, [&first](const Place& place, std::string_view) {
      first = std::min(first, place.self.sequence);
    });
    if (!whole) return whole;
    if (Status read = readEnds(first); !read) return read;
    std::string_view missing = lines;
    whole = eachOf(lines, [&](const Place& place, std::string_view behind) {
      const auto there = there_.find(place.self.sequence);
      if (there != there_.end() && there->second == place.self.hash) missing = behind;
    });
    there_.clear();
    if (!missing.empty()) {
      if (Status written = write(missing); !written) return written;
    }
    return sync();
  }

  Status append(std::string_view lines) override {
    const WrittenFile before = files_.empty() ? WrittenFile{} : files_.back();
    const Link last = last_;
    const size_t files = files_.size();
    Status written = write(lines);
    failpoint("audit.appended");
    if (written) written = sync();
    if (written) return {};
    // What is there of them would be a second time when they are tried again.
    for (; files_.size() > files; files_.pop_back()) ::unlink(pathOf(files_.back().number).c_str());
    last_ = last;
    if (files_.empty()) return written;
    files_.back() = before;
    if (Status opened = reopen(); !opened) return opened;
    if (::ftruncate(file_, static_cast<off_t>(before.bytes)) != 0)
      return failure(pathOf(before.number), "cannot be cut back");
    return written;
  }

  std::optional<uint64_t> dispensable(WallTime now) override {
    uint64_t bytes = 0;
    for (const WrittenFile& file : files_) bytes += file.bytes;
    std::optional<uint64_t> through;
    size_t left = files_.size();
    for (auto file = files_.begin(); left > 1; ++file, --left) {
      const bool isOld = now - file->changed > options_.keepFor;
      if (bytes <= options_.keepBytes && left <= options_.keepFiles && !isOld) break;
      bytes -= file->bytes;
      through = std::max(through.value_or(0), lastOf(*file));
    }
    return through;
  }

  Status erase(uint64_t through) override {
    const size_t before = files_.size();
    while (files_.size() > 1 && lastOf(files_.front()) <= through) {
      const std::string path = pathOf(files_.front().number);
      failpoint("audit.before_erase");
      if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failure(path, "cannot be erased");
      files_.erase(files_.begin());
    }
    if (files_.size() == before || ::fsync(directory_) == 0) return {};
    return failure(folder_, "cannot be put on disk");
  }

  const std::string& finding() const override { return finding_; }

 private:
  std::string pathOf(uint64_t number) const { return folder_ + "/" + nameOfFile(number); }
  kj::AutoCloseFd openFile(const std::string& name) const {
    return kj::AutoCloseFd(
        ::openat(directory_, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnersFile));
  }

  // Of a file that was there before the start its last entry is read when it is asked for.
  uint64_t lastOf(WrittenFile& file) const {
    if (file.last != 0) return file.last;
    Status read = eachLine(pathOf(file.number), [&file](std::string_view line) {
      if (const auto place = placeOf(line)) file.last = place->self.sequence;
      return true;
    });
    return read ? file.last : 0;
  }

  // Of the newest files, back to the one in which the entry `from` would be: what they have from there on,
  // and where the log ends.
  Status readEnds(uint64_t from) {
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
      const bool isNewest = file == files_.rbegin();
      uint64_t first = 0, whole = 0;
      std::optional<Place> last;
      bool isDamaged = false;
      Status read = eachLine(pathOf(file->number), [&](std::string_view line) {
        const bool hasEnd = whole + line.size() < file->bytes;
        if (!hasEnd) return false;
        whole += line.size() + 1;
        last = placeOf(line);
        isDamaged |= !last;
        if (!last) return true;
        if (first == 0) first = last->self.sequence;
        if (last->self.sequence >= from) there_.try_emplace(last->self.sequence, last->self.hash);
        return true;
      });
      if (!read) return read;
      if (isDamaged)
        finding_ = pathOf(file->number) + ": has lines that were changed; `tarcil audit --verify` says which";
      if (last) file->last = last->self.sequence;
      if (isNewest) {
        if (Status opened = reopen(); !opened) return opened;
        if (whole < file->bytes && ::ftruncate(file_, static_cast<off_t>(whole)) != 0)
          return failure(pathOf(file->number), "cannot be cut to its last whole line");
        file->bytes = whole;
        if (last) last_ = last->self;
      }
      if (first != 0 && first <= from) break;
    }
    return {};
  }

  // The newest file.
  Status reopen() {
    file_ = nullptr;
    if (files_.empty()) return {};
    file_ = openFile(nameOfFile(files_.back().number));
    return file_.get() < 0 ? Status(failure(pathOf(files_.back().number), "cannot be opened")) : Status();
  }

  // What is in the file before goes to disk first, so that no later one outlasts it.
  Status beginFile() {
    if (!files_.empty() && file_.get() >= 0 && ::fdatasync(file_) != 0)
      return failure(pathOf(files_.back().number), "cannot be put on disk");
    files_.push_back({files_.empty() ? 1 : files_.back().number + 1, 0, 0, {}});
    if (Status opened = reopen(); !opened) return opened;
    return ::fsync(directory_) == 0 ? Status() : Status(failure(folder_, "cannot be put on disk"));
  }

  // In one file, which may so become larger than it should.
  Status write(std::string_view lines) {
    const auto ends = endsOf(lines);
    if (!ends) return Error{ErrorCode::kInternal, "what is to be written is no part of an audit log"};
    const auto& [first, last] = *ends;
    const bool follows = first.self.sequence == last_.sequence + 1 && first.previous == last_.hash;
    if (files_.empty() || !follows || files_.back().bytes >= options_.fileBytes) {
      if (Status begun = beginFile(); !begun) return begun;
    }
    WrittenFile& file = files_.back();
    const Status written = writeAt(file_, lines, file.bytes);
    if (!written) return Error{written.error().code, pathOf(file.number) + ": " + written.error().message};
    file.bytes += lines.size();
    file.last = last.self.sequence;
    last_ = last.self;
    return {};
  }

  Status sync() {
    if (files_.empty()) return {};
    if (::fdatasync(file_) != 0) return failure(pathOf(files_.back().number), "cannot be put on disk");
    struct stat facts {};
    if (::fstat(file_, &facts) == 0)
      files_.back().changed = WallTime(std::chrono::seconds(facts.st_mtim.tv_sec));
    failpoint("audit.synced");
    // One sector, which is written whole or not at all.
    const Status written = writeAt(head_, headText(last_), 0);
    if (!written) return Error{written.error().code, folder_ + "/head: " + written.error().message};
    return ::fdatasync(head_) == 0 ? Status() : Status(failure(folder_ + "/head", "cannot be put on disk"));
  }

  const std::string folder_;
  const LogOptions options_;
  std::string finding_;
  kj::AutoCloseFd directory_, head_, file_;  // the folder, and the newest file
  std::vector<WrittenFile> files_;           // by number
  Link last_;                                // the last line of all
  std::map<uint64_t, Sha256> there_;         // while it is opened: entries in the files by number
};

}  // namespace

Result<std::unique_ptr<LogWriter>> LogWriter::open(const std::string& folder, const LogOptions& options,
                                                   std::string_view lines) {
  auto writer = std::make_unique<FilesWriter>(folder, options);
  if (const Status begun = writer->begin(lines); !begun) return begun.error();
  return std::unique_ptr<LogWriter>(std::move(writer));
}

}  // namespace tarcil::audit
