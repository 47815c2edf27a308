#include "formats/items_field.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/base/text.h"
#include "core/model/array.h"
#include "core/model/job.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

// Of the text of all items together: more is refused with the job anyway.
constexpr size_t kMaxListBytes = 16u << 20;

constexpr const char* kForms =
    "write a list, or one of {range: 1..100}, {range: 0..100, step: 10}, {lines: FILE}, {json: FILE}";

struct Range {
  int64_t first = 0, last = 0;
};

std::optional<int64_t> numberIn(std::string_view text) {
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "1..100".
std::optional<Range> rangeIn(const YamlValue& value) {
  constexpr int64_t kFarthest = 1'000'000'000'000;
  const auto text = value.text();
  if (!text) return std::nullopt;
  const size_t dots = text->find("..");
  const auto first = numberIn(std::string_view(*text).substr(0, dots));
  const auto last =
      dots == std::string::npos ? std::nullopt : numberIn(std::string_view(*text).substr(dots + 2));
  if (first && last && *first <= *last && *first >= -kFarthest && *last <= kFarthest)
    return Range{*first, *last};
  value.refuse("write two whole numbers, the smaller one first, for example 1..100");
  return std::nullopt;
}

std::vector<std::string> numbersIn(const YamlValue& value, const std::optional<YamlValue>& step) {
  const auto range = rangeIn(value);
  const auto by = step ? step->integer(1, INT32_MAX) : std::optional<int64_t>(1);
  std::vector<std::string> items;
  if (!range || !by) return items;
  const int64_t count = (range->last - range->first) / *by + 1;
  if (count > kMaxTasks) {
    value.problem("has " + std::to_string(count) + " numbers; a job has at most " +
                  std::to_string(kMaxTasks) + " tasks");
    return items;
  }
  for (int64_t number = range->first; number <= range->last; number += *by)
    items.push_back(std::to_string(number));
  return items;
}

// The file's name and text; nothing where it cannot be read, which is reported.
std::optional<std::pair<std::string, std::string>> fileIn(const YamlValue& value,
                                                          const std::optional<std::string>& folder) {
  const auto path = value.text();
  if (!path) return std::nullopt;
  if (!folder) {
    value.problem(std::string(kNamesFile) + "write the items as a list");
    return std::nullopt;
  }
  const std::string name = (fs::path(*folder) / *path).lexically_normal().string();
  auto text = readTextFile(name, kMaxListBytes);
  if (text) return std::pair(name, std::move(*text));
  value.problem(text.error().message);
  return std::nullopt;
}

std::vector<std::string> linesIn(const YamlValue& value, const std::optional<std::string>& folder) {
  std::vector<std::string> items;
  const auto file = fileIn(value, folder);
  if (!file) return items;
  const std::string& name = file->first;
  const std::string& text = file->second;
  const auto refuse = [&](const std::string& problem) {
    value.problem(name + ":" + std::to_string(items.size() + 1) + ": " + problem);
    items.clear();
    return items;
  };
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) return refuse("the line is empty; remove it");
    if (line.find('\0') != std::string::npos) return refuse("the line has a NUL character in it; remove it");
    if (items.size() == kMaxTasks)
      return refuse("there are more lines than the " + std::to_string(kMaxTasks) +
                    " tasks that a job may have; split the file");
    items.push_back(std::move(line));
    start = end + 1;
  }
  if (items.empty()) value.problem(name + ": is empty; write an item a line");
  return items;
}

std::vector<std::string> jsonIn(const YamlValue& value, const std::optional<std::string>& folder) {
  std::vector<std::string> items;
  const auto file = fileIn(value, folder);
  if (!file) return items;
  const auto& [name, text] = *file;
  const auto list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array() || list.empty()) {
    value.problem(name + ": is no JSON list with something in it; write, for example, [\"a\", \"b\"]");
    return items;
  }
  if (list.size() > kMaxTasks) {
    value.problem(name + ": has " + std::to_string(list.size()) + " entries; a job has at most " +
                  std::to_string(kMaxTasks) + " tasks");
    return items;
  }
  // A text stands for itself; of anything else the task gets the JSON.
  for (const auto& entry : list) items.push_back(entry.is_string() ? entry.get<std::string>() : entry.dump());
  return items;
}

std::vector<std::string> listed(const YamlValue& value) {
  std::vector<std::string> items;
  const auto list = value.list();
  if (!list) return items;
  if (list->empty()) value.problem("is an empty list; " + std::string(kForms));
  for (const YamlValue& entry : *list) {
    if (auto text = entry.text()) items.push_back(std::move(*text));
  }
  return items;
}

}  // namespace

std::vector<std::string> itemsIn(const YamlValue& value, const std::optional<std::string>& folder) {
  if (!value.isMapping()) {
    if (value.node().kind != YamlNode::Kind::kScalar) return listed(value);
    value.refuse(kForms);
    return {};
  }
  auto mapping = value.mapping();
  if (!mapping) return {};
  const auto range = mapping->take("range"), step = mapping->take("step"), lines = mapping->take("lines"),
             json = mapping->take("json");
  mapping->refuseOthers();
  const int given = (range ? 1 : 0) + (lines ? 1 : 0) + (json ? 1 : 0);
  if (given != 1) {
    value.problem(kForms);
    return {};
  }
  if (step && !range) step->problem("is for a range; leave it out");
  if (range) return numbersIn(*range, step);
  return lines ? linesIn(*lines, folder) : jsonIn(*json, folder);
}

}  // namespace tarcil
