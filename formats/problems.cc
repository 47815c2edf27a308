#include "formats/problems.h"

#include <algorithm>

namespace tarcil {
namespace {

constexpr size_t kMaxLines = 50;
constexpr size_t kMaxKept = 1'000;  // a file may have a problem in each of half a million values

}  // namespace

void Problems::add(FilePosition place, std::string_view field, std::string_view problem) {
  if (++count_ > kMaxKept) return;
  const auto note = notes_.find(place);
  lines_.push_back({place, file_ + ':' + std::to_string(place.line) + ':' + std::to_string(place.column) +
                               ": " + std::string(field.empty() ? "file" : field) + ": " +
                               std::string(problem) +
                               (note == notes_.end() ? "" : " (" + note->second + ")")});
}

Error Problems::error() const {
  std::vector<Line> lines = lines_;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.place < b.place; });
  std::string message;
  const auto append = [&message](const std::string& text) {
    message.append(message.empty() ? "" : "\n").append(text);
  };
  for (size_t i = 0; i < lines.size() && i < kMaxLines; ++i) append(lines[i].text);
  if (count_ > kMaxLines) append(file_ + ": " + std::to_string(count_ - kMaxLines) + " more problems");
  for (const std::string& other : others_) append(other);
  return invalid(std::move(message));
}

}  // namespace tarcil
