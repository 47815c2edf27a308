#include "image/layer_rules.h"

#include "core/base/text.h"
#include "core/base/units.h"

namespace tarcil::image {
namespace {

using Kind = LayerEntry::Kind;

// Names by which a layer says what of those below it is not there any more.
constexpr std::string_view kWhiteout = ".wh.", kOpaque = ".wh..wh..opq";

// Why a path is not one of the image's own; empty where it is. "./a/b/" is "a/b", "./" the root.
std::string_view whyNotInside(std::string_view path) {
  if (path.starts_with('/') && path != "/") return "is absolute";
  for (size_t from = 0; from <= path.size();) {
    const size_t end = std::min(path.find('/', from), path.size());
    if (path.substr(from, end - from) == "..") return "has .. in it";
    from = end + 1;
  }
  return "";
}

std::string_view lastOf(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool removesWrongly(std::string_view path) {
  const std::string_view name = lastOf(path);
  if (!name.starts_with(kWhiteout) || name == kOpaque) return false;
  const std::string_view removed = name.substr(kWhiteout.size());
  return removed.empty() || removed == "." || removed == "..";
}

Error refused(const LayerEntry& entry, std::string_view why) {
  return invalid("has an entry " + shown(entry.path) + " that " + std::string(why) +
                 "; make the image without it");
}

}  // namespace

Status LayerRules::take(const LayerEntry& entry) {
  if (++entries_ > bounds_.entries) {
    return invalid("has more than " + std::to_string(bounds_.entries) +
                   " files and folders, the most that is " + "unpacked here; make a smaller one");
  }
  if (const std::string_view why = whyNotInside(entry.path); !why.empty()) return refused(entry, why);
  if (removesWrongly(entry.path)) return refused(entry, "removes what is no file of its folder");
  if (entry.kind == Kind::kDevice) return refused(entry, "is a device");
  if (entry.kind == Kind::kOther) return refused(entry, "is neither file, folder, link nor pipe");
  if (entry.kind == Kind::kHardLink) {
    if (const std::string_view why = whyNotInside(entry.target); !why.empty())
      return refused(entry, "is a link to " + shown(entry.target) + ", which " + std::string(why));
  }
  if (entry.bytes > bounds_.bytes - bytes_) {
    return invalid("takes more than " + formatSize(bounds_.bytes) +
                   " when it is unpacked, the most that an image may here; make a smaller one");
  }
  bytes_ += entry.bytes;
  return {};
}

}  // namespace tarcil::image
