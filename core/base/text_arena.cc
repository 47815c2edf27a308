#include "core/base/text_arena.h"

#include <algorithm>

namespace tarcil {
namespace {

constexpr size_t kBlock = 64 * 1024;

}  // namespace

std::string_view TextArena::keep(std::string_view text) {
  if (text.size() > left_) {
    size_ = left_ = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique<char[]>(size_));
  }
  char* const to = blocks_.back().get() + (size_ - left_);
  std::copy(text.begin(), text.end(), to);
  left_ -= text.size();
  return {to, text.size()};
}

}  // namespace tarcil
