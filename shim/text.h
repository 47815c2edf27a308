// A line of text built in place, for a program without stdio and without a heap. What does not fit is cut.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarcil {

template <size_t kCapacity>
class Text {
 public:
  void add(char letter) {
    if (full()) return;
    data_[size_++] = letter;
    data_[size_] = '\0';
  }

  Text& operator<<(const char* text) {
    for (; *text != '\0'; ++text) add(*text);
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
  // Nothing more fits, or something did not.
  bool full() const { return size_ + 1 == kCapacity; }
  bool empty() const { return size_ == 0; }

 private:
  size_t size_ = 0;
  char data_[kCapacity] = {};
};

}  // namespace tarcil
