// The input list of an array: one item for each task of its job.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tarcil {

// Never changed once made; copies share it, as a job's record is copied with every message about it.
class Items {
 public:
  Items() = default;
  explicit Items(std::vector<std::string> items) {
    if (!items.empty()) items_ = std::make_shared<const std::vector<std::string>>(std::move(items));
  }

  bool empty() const { return items_ == nullptr; }
  size_t size() const { return items_ ? items_->size() : 0; }
  const std::string& operator[](size_t task) const { return (*items_)[task]; }
  const std::vector<std::string>& all() const {
    static const std::vector<std::string> kNone;
    return items_ ? *items_ : kNone;
  }

  bool operator==(const Items& other) const { return items_ == other.items_ || all() == other.all(); }

 private:
  std::shared_ptr<const std::vector<std::string>> items_;  // null where it is empty
};

}  // namespace tarcil
