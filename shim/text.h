// A line of text built in place, for a program without stdio and without a heap. What does not fit is cut.
#pragma once

#include <string.h>

#include <cstddef>
#include <cstdint>

namespace tarcil {

template <size_t kCapacity>
class Text {
 public:
  Text& operator<<(const char* text) {
    for (; *text != '\0' && size_ + 1 < kCapacity; ++text) data_[size_++] = *text;
    data_[size_] = '\0';
    return *this;
  }

  Text& operator<<(uint64_t number) {
    char digits[21];
    char* at = digits + sizeof digits - 1;
    *at = '\0';
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << at;
  }

  void clear() { data_[size_ = 0] = '\0'; }
  const char* get() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  size_t size_ = 0;
  char data_[kCapacity] = {};
};

}  // namespace tarcil
