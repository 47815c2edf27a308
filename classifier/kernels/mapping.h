// Memory of a kernel's own, straight from the system: placed as asked, and gone when it is given back.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace tarcil {

class Mapping final {
 public:
  Mapping() = default;
  // Fresh, private, readable and writable; not touched yet. std::runtime_error where there is none.
  explicit Mapping(size_t bytes) : bytes_(bytes) {
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      data_ = nullptr;
      throw std::runtime_error("no " + std::to_string(bytes >> 20) +
                               " MiB of memory: " + std::strerror(errno));
    }
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  char* data() const { return static_cast<char*>(data_); }
  size_t size() const { return data_ == nullptr ? 0 : bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace tarcil
