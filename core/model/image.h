// References of container images, as jobs name them, and the digests that say which image exactly.
//
//   oci:/PATH[:TAG][@sha256:HEX]           an OCI layout, a folder on the servers
//   oci-archive:/PATH[:TAG][@sha256:HEX]   the same in one tar file
//   docker://[HOST[:PORT]/]NAME[:TAG][@sha256:HEX]   of a registry
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tarcil {

struct ImageReference {
  enum class Transport : uint8_t { kOci, kOciArchive, kDocker };

  Transport transport = Transport::kOci;
  std::string location;  // absolute path, or name with the registry where it was written
  std::string tag;       // empty: the only image there, of a registry `latest`
  std::string digest;    // of the manifest, "sha256:" and 64 digits; empty: whatever is there

  bool isLocal() const { return transport != Transport::kDocker; }
  bool operator==(const ImageReference&) const = default;
};

// kInvalid: what is wrong, and what to write instead.
Result<ImageReference> parseImage(std::string_view text);

// As it was parsed, where parsing had succeeded.
std::string toString(const ImageReference& reference);

// What a program that copies images is to read: of a registry the very manifest that `digest` names, where it
// is not empty; elsewhere by tag, as these formats know no other way.
std::string sourceOf(const ImageReference& reference, std::string_view digest);

// "sha256:" and 64 small hexadecimal digits.
bool isImageDigest(std::string_view text);

// A field of a job that names an image (core/model/job_fields.h).
struct ImageName {
  static constexpr size_t kMaxCharacters = 4'095;

  bool holds(std::string_view value) const { return parseImage(value).ok(); }
  std::string remedy() const {
    return "write oci:/PATH[:TAG], oci-archive:/PATH[:TAG] or docker://NAME[:TAG], each with @sha256:DIGEST "
           "at its end if only that image will do";
  }
  std::string values() const { return "reference of an image"; }
};

}  // namespace tarcil
