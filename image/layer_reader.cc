#include "image/layer_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

namespace tarcil::image {
namespace {

struct Free {
  void operator()(archive* reader) const { ::archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, Free>;

constexpr size_t kBlock = 64 << 10;

std::string textOf(const char* text) {
  return text == nullptr ? "" : text;
}

LayerEntry::Kind kindOf(archive_entry* entry) {
  using Kind = LayerEntry::Kind;
  if (::archive_entry_hardlink(entry) != nullptr) return Kind::kHardLink;
  switch (::archive_entry_filetype(entry)) {
    case AE_IFREG:
      return Kind::kFile;
    case AE_IFDIR:
      return Kind::kFolder;
    case AE_IFLNK:
      return Kind::kSymbolicLink;
    case AE_IFIFO:
      return Kind::kPipe;
    case AE_IFCHR:
    case AE_IFBLK:
      return Kind::kDevice;
    default:
      return Kind::kOther;
  }
}

LayerEntry entryIn(archive_entry* entry) {
  LayerEntry result;
  result.path = textOf(::archive_entry_pathname(entry));
  result.kind = kindOf(entry);
  result.target = textOf(::archive_entry_hardlink(entry));
  const auto bytes = ::archive_entry_size(entry);
  if (result.kind == LayerEntry::Kind::kFile && bytes > 0) result.bytes = static_cast<uint64_t>(bytes);
  return result;
}

Error unreadable(archive* reader) {
  return invalid("is no archive that can be read to its end: " + textOf(::archive_error_string(reader)));
}

// The bytes of an archive, without their compression. Programs that make layers do not fill up its last
// record; that is done here.
class Plain {
 public:
  explicit Plain(const std::string& path) : reader_(::archive_read_new()) {
    ::archive_read_support_format_raw(reader_.get());
    ::archive_read_support_format_empty(reader_.get());
    ::archive_read_support_filter_gzip(reader_.get());
    ::archive_read_support_filter_zstd(reader_.get());
    archive_entry* all = nullptr;
    opened_ = ::archive_read_open_filename(reader_.get(), path.c_str(), kBlock) == ARCHIVE_OK &&
              ::archive_read_next_header(reader_.get(), &all) == ARCHIVE_OK;
  }

  // As libarchive calls it.
  static la_ssize_t read(archive* asker, void* plain, const void** bytes) {
    return static_cast<Plain*>(plain)->next(asker, bytes);
  }

 private:
  la_ssize_t next(archive* asker, const void** bytes) {
    *bytes = buffer_.data();
    const la_ssize_t count = opened_ ? ::archive_read_data(reader_.get(), buffer_.data(), buffer_.size()) : 0;
    if (count < 0 || (!opened_ && ::archive_errno(reader_.get()) != 0)) {
      ::archive_set_error(asker, EIO, "%s", ::archive_error_string(reader_.get()));
      return -1;
    }
    count_ += static_cast<uint64_t>(count);
    if (count > 0 || std::exchange(hasEnded_, true)) return count;
    const size_t end = (kRecord - count_ % kRecord) % kRecord;
    std::fill_n(buffer_.begin(), end, '\0');
    return static_cast<la_ssize_t>(end);
  }

  static constexpr size_t kRecord = 512;  // of a tar file

  const Reader reader_;
  bool opened_ = false;
  bool hasEnded_ = false;
  uint64_t count_ = 0;
  std::array<char, kBlock> buffer_{};
};

}  // namespace

Status checkLayer(const std::string& path, LayerRules& rules) {
  Plain plain(path);
  const Reader reader(::archive_read_new());
  ::archive_read_support_format_tar(reader.get());
  if (::archive_read_open(reader.get(), &plain, nullptr, Plain::read, nullptr) != ARCHIVE_OK)
    return unreadable(reader.get());
  archive_entry* entry = nullptr;
  for (;;) {
    const int read = ::archive_read_next_header(reader.get(), &entry);
    if (read == ARCHIVE_EOF) return {};
    // A warning is of what is not looked at: a name that is not in this machine's encoding, a time.
    if (read != ARCHIVE_OK && read != ARCHIVE_WARN) return unreadable(reader.get());
    if (Status taken = rules.take(entryIn(entry)); !taken.ok()) return taken;
  }
}

}  // namespace tarcil::image
