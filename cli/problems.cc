#include "cli/problems.h"

#include <algorithm>

namespace tarcil {

constexpr size_t kMostLines = 50;

void Problems::add(Place place, std::string_view field, std::string_view problem) {
  lines_.push_back({place, file_ + ':' + std::to_string(place.line) + ':' + std::to_string(place.column) +
                               ": " + std::string(field.empty() ? "file" : field) + ": " +
                               std::string(problem)});
}

Error Problems::error() const {
  std::vector<Line> lines = lines_;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.place < b.place; });
  std::string message;
  const auto append = [&message](const std::string& text) {
    message.append(message.empty() ? "" : "\n").append(text);
  };
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) append(lines[i].text);
  if (lines.size() > kMostLines)
    append(file_ + ": " + std::to_string(lines.size() - kMostLines) + " more problems");
  for (const std::string& other : others_) append(other);
  return invalid(std::move(message));
}

}  // namespace tarcil
