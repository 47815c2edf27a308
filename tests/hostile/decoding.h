// Decodes bytes as messages, as a role does with what a peer sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tarcil::hostile {

using Bytes = std::vector<uint8_t>;

// How many kinds of message there are.
size_t kinds();

// Reads `size` bytes as one message of this kind. What has been read must come out the same when it is
// written and read again; else the process is aborted. Throws nothing but what no decoder should. Returns how
// many bytes it took when it was written again; 0 where it was refused.
size_t decode(size_t kind, const uint8_t* bytes, size_t size);

// A valid message of each kind, in their order.
std::vector<Bytes> examples();

}  // namespace tarcil::hostile
