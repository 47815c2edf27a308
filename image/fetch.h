// From a reference to a folder that tasks can run in.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/image.h"
#include "image/layer_rules.h"

namespace tarcil::image {

struct Request {
  ImageReference reference;
  std::string digest;                           // that it must be; empty: whatever is there
  std::set<std::string> have;                   // digests of images that need not be fetched
  std::string skopeo, umoci;                    // paths of these programs
  std::vector<std::string> insecureRegistries;  // HOST or HOST:PORT that are spoken to without TLS
  LayerBounds bounds;                           // of the image unpacked; its bytes also of what is fetched
  uint64_t reserve = 0;                         // bytes that stay free on the disk
};

struct Fetched {
  std::string digest;  // of the manifest that the reference led to
  bool isNew = false;  // not one of `have`
  uint64_t bytes = 0;  // as it is unpacked
};

// Leaves in the working directory, synced to the disk: `rootfs`, the image's files, all of this process'
// user, with the folders that every task takes and the image's working directory; and `config`
// (core/model/image_config.h). Or nothing but what is to be thrown away, where the image is one of `have`, or
// this fails: kInvalid says what is wrong with the image, or with the way to it. Every blob has been held
// against its digest, and every entry of its layers against the rules, before any is unpacked.
Result<Fetched> fetch(const Request& request);

}  // namespace tarcil::image
