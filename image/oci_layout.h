// An OCI layout (image specification 1.0) that holds one image: what is in it, and whether that is what it
// says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/image_config.h"

namespace tarcil::image {

// Bytes of a manifest, an index or a configuration.
inline constexpr uint64_t kMaxJsonBytes = 4 << 20;
// Of an image; registries take no more.
inline constexpr size_t kMaxLayers = 127;

struct Blob {
  std::string digest;
  uint64_t bytes = 0;

  bool operator==(const Blob&) const = default;
};

struct Manifest {
  Blob config;
  std::vector<Blob> layers;  // the lowest first
};

// "sha256:" and what the text comes to.
std::string digestOf(std::string_view text);

// The file, of at most kMaxJsonBytes. kNotFound, kInvalid.
Result<std::string> readJsonFile(const std::string& path);

// The one manifest that `index.json` names.
Result<Blob> manifestIn(std::string_view index);
// Digests of the manifests that an index lists, one for each platform; none of a manifest itself.
std::vector<std::string> manifestsListedIn(std::string_view text);
// kInvalid also: more layers than kMaxLayers, or more than `maxBytes` in them.
Result<Manifest> parseManifest(std::string_view text, uint64_t maxBytes);
Result<ImageConfig> parseConfig(std::string_view text);

std::string blobPath(const std::string& layout, const Blob& blob);
// kInvalid: it is not there whole, or its content is not what its digest says.
Status verifyBlob(const std::string& layout, const Blob& blob);

}  // namespace tarcil::image
