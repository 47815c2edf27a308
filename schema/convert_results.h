// Files that are kept of tasks, to and from the wire.
#pragma once

#include <vector>

#include "core/model/result_files.h"
#include "schema/convert_support.h"

namespace tarcil {

inline void write(const std::vector<ResultFile>& value, capnp::List<wire::ResultFile>::Builder to) {
  for (uint32_t i = 0; i < value.size(); ++i) {
    to[i].setPath(convert::text(value[i].path));
    to[i].setBytes(value[i].bytes);
    to[i].setMode(value[i].mode);
  }
}

// Paths as the peer tells them: staysInside() is the reader's to ask.
inline std::vector<ResultFile> read(capnp::List<wire::ResultFile>::Reader from) {
  std::vector<ResultFile> value;
  value.reserve(from.size());
  for (auto file : convert::elements(from)) {
    value.push_back({convert::text(file.getPath()), file.getBytes(), file.getMode()});
  }
  return value;
}

}  // namespace tarcil
