// What a monitor does about images. Constant while it runs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "monitor/logic/images/image_removal.h"

namespace tarcil {

struct ImageOptions {
  std::string program;        // tarcil-image of the same build; empty: no image is fetched
  std::string skopeo, umoci;  // paths; empty: this machine has none, and no image is fetched

  // Who fetches and unpacks, and whom the files of images belong to.
  uid_t uid = 65534;
  gid_t gid = 65534;

  std::vector<std::string> allowedRoots;        // folders that layouts and archives may be in
  std::vector<std::string> insecureRegistries;  // HOST or HOST:PORT that are spoken to without TLS

  // Of one image: bytes of its files, and of what is fetched of it; files and folders; time that it may take.
  uint64_t mostBytes = uint64_t{16} << 30;
  uint64_t mostEntries = 1'000'000;
  Duration timeout = std::chrono::minutes(30);

  uint32_t atOnce = 2;  // that are fetched
  KeepImages keep;
};

}  // namespace tarcil
