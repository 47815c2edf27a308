#include "formats/yaml_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/text.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

std::string describeNode(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "empty";
    case YamlNode::Kind::kScalar:
      return shown(node.text) + (node.quoted ? " in quotes" : "");
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMapping:
      return "a mapping";
  }
  return "";
}

// A whole scalar that is not in quotes as a number.
template <typename T>
std::optional<T> parsePlain(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar || node.quoted) return std::nullopt;
  T value{};
  const char* last = node.text.data() + node.text.size();
  auto [end, failure] = std::from_chars(node.text.data(), last, value);
  if (failure != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace

void YamlValue::refuse(std::string_view remedy) const {
  problem("is " + describeNode(*node_) + "; " + std::string(remedy));
}

std::optional<std::string> YamlValue::text() const {
  if (node_->kind == YamlNode::Kind::kNull) {
    refuse("write a text, in quotes if it is empty or reads null");
  } else if (node_->kind != YamlNode::Kind::kScalar) {
    refuse("write a text");
  } else if (node_->text.find('\0') != std::string::npos) {
    problem("has a NUL character in it; remove it");
  } else {
    return node_->text;
  }
  return std::nullopt;
}

std::optional<std::string> YamlValue::title(size_t most) const {
  auto value = text();
  if (!value) return std::nullopt;
  if (!value->empty() && characters(*value) <= most && isPrintable(*value)) return value;
  refuse("write 1 to " + std::to_string(most) + " printable characters");
  return std::nullopt;
}

std::optional<int64_t> YamlValue::integer(int64_t least, int64_t most) const {
  auto value = parsePlain<int64_t>(*node_);
  if (value && *value >= least && *value <= most) return value;
  refuse("write a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<double> YamlValue::number(const NumberRange& range) const {
  auto value = parsePlain<double>(*node_);
  if (value && std::isfinite(*value) && range.holds(*value)) return value;
  refuse("write a number " + range.describe());
  return std::nullopt;
}

std::optional<bool> YamlValue::boolean() const {
  const bool isPlain = node_->kind == YamlNode::Kind::kScalar && !node_->quoted;
  if (isPlain && node_->text == "true") return true;
  if (isPlain && node_->text == "false") return false;
  refuse("write true or false");
  return std::nullopt;
}

std::optional<std::string> YamlValue::oneOf(const std::vector<std::string_view>& choices) const {
  const bool isScalar = node_->kind == YamlNode::Kind::kScalar;
  if (isScalar && std::find(choices.begin(), choices.end(), node_->text) != choices.end()) return node_->text;
  refuse((isScalar ? didYouMean(node_->text, choices) : "") + "write one of " + joined(choices));
  return std::nullopt;
}

std::optional<Duration> YamlValue::duration(Duration least, Duration most) const {
  if (node_->kind != YamlNode::Kind::kScalar) {
    refuse("write a duration, for example 10s");
    return std::nullopt;
  }
  auto parsed = parseDuration(node_->text);
  if (!parsed) {
    problem(parsed.error().message);
  } else if (*parsed < least || *parsed > most) {
    refuse("write a duration from " + formatDuration(least) + " to " + formatDuration(most));
  } else {
    return *parsed;
  }
  return std::nullopt;
}

std::optional<uint64_t> YamlValue::positiveSize() const {
  if (node_->kind != YamlNode::Kind::kScalar) {
    refuse("write a size, for example 100MiB");
    return std::nullopt;
  }
  auto parsed = parseSize(node_->text);
  if (!parsed) {
    problem(parsed.error().message);
  } else if (*parsed == 0) {
    refuse("write at least 1B, or leave it out");
  } else {
    return *parsed;
  }
  return std::nullopt;
}

std::optional<std::vector<YamlValue>> YamlValue::list() const {
  if (node_->kind != YamlNode::Kind::kSequence) {
    refuse("write a list, for example [a, b]");
    return std::nullopt;
  }
  std::vector<YamlValue> items;
  items.reserve(node_->values.size());
  for (const YamlNode& item : node_->values) {
    items.emplace_back(item, field_ + '[' + std::to_string(items.size()) + ']', *problems_);
  }
  return items;
}

std::optional<YamlMapping> YamlValue::mapping() const {
  if (isMapping()) return YamlMapping(*node_, field_, *problems_);
  refuse("write a mapping, for example {key: value}");
  return std::nullopt;
}

YamlMapping::YamlMapping(const YamlNode& node, std::string field, Problems& problems)
    : field_(std::move(field)), problems_(&problems) {
  for (size_t i = 0; i < node.keys.size(); ++i) {
    const YamlNode& key = node.keys[i];
    if (key.kind != YamlNode::Kind::kScalar) {
      problems.add(key.place, field_, "a key is " + describeNode(key) + "; write a text");
      continue;
    }
    auto [first, isNew] = byKey_.emplace(key.text, &key);
    if (isNew) {
      entries_.emplace_back(&key, &node.values[i]);
    } else {
      problems.add(
          key.place, fieldOf(key.text),
          "is given twice, first in line " + std::to_string(first->second->place.line) + "; keep one");
    }
  }
  for (const auto& [key, value] : entries_) byKey_[key->text] = value;
}

std::optional<YamlValue> YamlMapping::take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  auto found = byKey_.find(key);
  if (found == byKey_.end()) return std::nullopt;
  return YamlValue(*found->second, fieldOf(key), *problems_);
}

std::vector<std::pair<std::string, YamlValue>> YamlMapping::all() const {
  std::vector<std::pair<std::string, YamlValue>> values;
  values.reserve(entries_.size());
  for (const auto& [key, value] : entries_) {
    values.emplace_back(key->text, YamlValue(*value, fieldOf(key->text), *problems_));
  }
  return values;
}

void YamlMapping::refuseOthers() const {
  for (const auto& [key, value] : entries_) {
    if (std::find(known_.begin(), known_.end(), key->text) != known_.end()) continue;
    problems_->add(key->place, fieldOf(key->text),
                   "unknown field; " + didYouMean(key->text, known_) + "known here: " + joined(known_));
  }
}

std::string YamlMapping::fieldOf(std::string_view key) const {
  // Long or odd keys are the user's own; a message needs only enough to find them.
  std::string quoted = shown(key);
  const bool isPlain = quoted.size() == key.size() + 2 && !key.empty();
  std::string name = isPlain ? std::string(key) : std::move(quoted);
  return field_.empty() ? name : field_ + '.' + name;
}

}  // namespace tarcil
