#include "image/layer_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

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

}  // namespace

Status checkLayer(const std::string& path, LayerRules& rules) {
  const Reader reader(::archive_read_new());
  ::archive_read_support_format_tar(reader.get());
  ::archive_read_support_filter_gzip(reader.get());
  ::archive_read_support_filter_zstd(reader.get());
  if (::archive_read_open_filename(reader.get(), path.c_str(), kBlock) != ARCHIVE_OK)
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
