#include "core/state/state_checksum.h"

#include <algorithm>
#include <string_view>

#include "core/base/rng.h"

namespace tarcil {
namespace {

// Takes in one value after the other; each step is the finalizer of splitmix64.
class Mixer {
 public:
  void add(uint64_t value) { hash_ = mixed(hash_ + 0x9e3779b97f4a7c15 + value); }

  // Two to a step.
  void add(const PressureSum& values) {
    static_assert(kResources % 2 == 0);
    for (size_t i = 0; i < values.size(); i += 2) {
      add(uint64_t{static_cast<uint32_t>(values[i])} << 32 | static_cast<uint32_t>(values[i + 1]));
    }
  }

  // Sets are equal where their members are: zero words at the end do not count.
  void add(const RuSet& set) {
    const auto& words = set.words();
    size_t count = words.size();
    while (count > 0 && words[count - 1] == 0) --count;
    add(count);
    for (size_t i = 0; i < count; ++i) add(words[i]);
  }

  // Eight bytes to a step, the first the lowest; the length tells texts with zeros at the end apart.
  void add(std::string_view text) {
    add(text.size());
    for (size_t i = 0; i < text.size(); i += 8) {
      uint64_t word = 0;
      for (size_t j = std::min(text.size(), i + 8); j > i; --j) {
        word = word << 8 | static_cast<unsigned char>(text[j - 1]);
      }
      add(word);
    }
  }

  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

uint64_t checksumOf(const std::string& text) {
  Mixer mixer;
  for (char c : text) mixer.add(static_cast<unsigned char>(c));
  return mixer.hash();
}

}  // namespace

uint64_t checksumOf(ServerId server, const ServerStatus& status) {
  Mixer mixer;
  mixer.add(server);
  mixer.add(status.version);
  mixer.add(uint64_t{status.removed} << 2 | uint64_t{status.up} << 1 | uint64_t{status.cordoned});
  mixer.add(status.free);
  mixer.add(status.sum);
  mixer.add(status.bound);
  uint64_t background = 0;
  for (uint8_t pressure : status.background) background = background * 100 + pressure;
  mixer.add(background);
  if (status.allocated != ByteResources{}) {
    mixer.add(status.allocated.memory);
    mixer.add(status.allocated.disk);
  }
  for (const auto& [kind, free] : status.freeExtras) {
    mixer.add(checksumOf(kind));
    mixer.add(free);
  }
  return mixer.hash();
}

uint64_t checksumOf(ServerId server, const ServerFacts& facts) {
  Mixer mixer;
  mixer.add(server);
  for (const std::string* text : {&facts.name, &facts.platform, &facts.rack, &facts.address}) {
    mixer.add(std::string_view(*text));
  }
  mixer.add(facts.attributes.size());
  for (const auto& [name, value] : facts.attributes) {
    mixer.add(std::string_view(name));
    mixer.add(std::string_view(value));
  }
  mixer.add(facts.extras.size());
  for (const auto& [kind, count] : facts.extras) {
    mixer.add(std::string_view(kind));
    mixer.add(count);
  }
  mixer.add(facts.rus);
  mixer.add(facts.cores);
  mixer.add(facts.memoryBytes);
  if (facts.memoryOvercommit != ServerFacts{}.memoryOvercommit || facts.diskBytes > 0) {
    mixer.add(facts.memoryOvercommit);
    mixer.add(facts.diskBytes);
  }
  mixer.add(facts.emulated);
  mixer.add(facts.missing.size());
  for (const std::string& missing : facts.missing) mixer.add(std::string_view(missing));
  return mixer.hash();
}

}  // namespace tarcil
