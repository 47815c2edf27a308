// Keeps many short texts in few allocations.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace tarcil {

// What is kept stays where it is until the arena goes; nothing is taken out before.
class TextArena {
 public:
  // A copy of the text that lives as long as the arena, also where that is moved.
  std::string_view keep(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t left_ = 0;  // at the end of the last block
  size_t size_ = 0;  // of the last block
};

}  // namespace tarcil
