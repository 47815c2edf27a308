// Files that are kept of tasks, to and from the wire.
#pragma once

#include <vector>

#include "core/model/result_files.h"
#include "schema/convert_support.h"

namespace tarcil {

inline void write(const ResultFile& value, wire::ResultFile::Builder to) {
  to.setPath(convert::text(value.path));
  to.setBytes(value.bytes);
  to.setMode(value.mode);
}

// The path as the peer tells it: staysInside() is the reader's to ask.
inline ResultFile read(wire::ResultFile::Reader from) {
  return {convert::text(from.getPath()), from.getBytes(), from.getMode()};
}

inline void write(const std::vector<ResultFile>& value, capnp::List<wire::ResultFile>::Builder to) {
  for (uint32_t i = 0; i < value.size(); ++i) write(value[i], to[i]);
}

inline std::vector<ResultFile> read(capnp::List<wire::ResultFile>::Reader from) {
  std::vector<ResultFile> value;
  value.reserve(from.size());
  for (auto file : convert::elements(from)) value.push_back(read(file));
  return value;
}

}  // namespace tarcil
