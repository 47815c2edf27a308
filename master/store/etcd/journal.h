// A batch of the journal as bytes, and how it lies in etcd where it is larger than a request may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "master/store/etcd/unfolded.h"

namespace tarcil {

std::string encodeBatch(uint64_t term, const std::vector<Change>& changes);

// Internal where the bytes are no batch, Invalid where they are one of a newer format.
Result<std::vector<Change>> decodeBatch(std::string_view bytes);

// Most bytes of a batch in one value of etcd: 1.5 MiB less what is around them, and room.
inline constexpr size_t kMaxValueBytes = 1 << 20;

// What is put under the batch's key, and, before that, in parts of at most kMaxValueBytes.
struct BatchValue {
  std::string value;
  std::vector<std::string> parts{};
};
BatchValue inParts(std::string batch);

// Of a value: nullopt where it is the batch itself, else the number of its parts.
std::optional<uint32_t> partsOf(std::string_view value);
// The batch of a value without parts.
std::string_view batchOf(std::string_view value);

}  // namespace tarcil
