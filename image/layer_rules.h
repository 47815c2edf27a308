// What may be in a layer of an image: decided of each entry before any is unpacked. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tarcil::image {

// One entry of a layer's archive.
struct LayerEntry {
  enum class Kind : uint8_t { kFile, kFolder, kSymbolicLink, kHardLink, kPipe, kDevice, kOther };

  std::string path{};  // as the archive has it
  Kind kind = Kind::kFile;
  std::string target{};  // of a hard link: another path of the image
  uint64_t bytes = 0;    // of a file
};

// Of all layers of an image together.
struct LayerBounds {
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

// Refuses devices, absolute paths, `..` in paths and in targets of hard links, marks of removal that name no
// file of their folder, and more than the bounds. Symbolic links may lead anywhere: in a task they are
// followed within the image, and what unpacks follows them within it too.
class LayerRules final {
 public:
  explicit LayerRules(LayerBounds bounds) : bounds_(bounds) {}

  // kInvalid: what is wrong with the entry, and its name. Entries of all layers come in order; each counts.
  Status take(const LayerEntry& entry);

  uint64_t bytes() const { return bytes_; }

 private:
  const LayerBounds bounds_;
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace tarcil::image
