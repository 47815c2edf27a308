// Where in etcd the parts of a store lie: docs/masters.md has the table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace tarcil {

class EtcdKeys {
 public:
  // It ends in a slash.
  explicit EtcdKeys(std::string prefix) : prefix_(std::move(prefix)) {}

  const std::string& prefix() const { return prefix_; }
  std::string format() const { return prefix_ + "format"; }
  std::string authority() const { return prefix_ + "authority"; }
  std::string leader() const { return prefix_ + "leader"; }
  std::string folded() const { return prefix_ + "folded"; }
  std::string journal() const { return prefix_ + "j/"; }
  std::string batch(uint64_t number) const { return journal() + bytesOf(number); }
  std::string parts() const { return prefix_ + "x/"; }
  std::string part(uint64_t batch, uint32_t number) const {
    return parts() + bytesOf(batch) + bytesOf(number).substr(4);
  }
  std::string records() const { return prefix_ + "r/"; }
  std::string record(const std::string& key) const { return records() + key; }

  // Of a record's key here, or a batch's.
  std::string ofRecord(const std::string& key) const { return key.substr(records().size()); }
  uint64_t ofBatch(const std::string& key) const {
    uint64_t number = 0;
    for (const char byte : key.substr(journal().size())) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  }

 private:
  // Big-endian, so that keys sort as numbers do.
  static std::string bytesOf(uint64_t number) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
    return bytes;
  }

  std::string prefix_;
};

}  // namespace tarcil
