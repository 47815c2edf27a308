// Typed reading of YAML: ask a mapping for the keys you know, ask a value for the type you need; whatever
// does not fit is added to the problems with its place, its field and what to write instead, and reading
// goes on.
//
// Values and mappings are views: the tree and the problems must outlive them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/number_range.h"
#include "core/base/time.h"
#include "formats/problems.h"
#include "formats/yaml_tree.h"

namespace tarcil {

class YamlMapping;

// One value under the name of its field ("quality.target", "files[2]"). Each reading function returns nothing
// after it has reported that the value does not fit.
class YamlValue {
 public:
  YamlValue(const YamlNode& node, std::string field, Problems& problems)
      : node_(&node), field_(std::move(field)), problems_(&problems) {}

  const YamlNode& node() const { return *node_; }
  const std::string& field() const { return field_; }
  bool isMapping() const { return node_->kind == YamlNode::Kind::kMapping; }

  // Reports "is <the value>; <remedy>" or any other problem with this value.
  void refuse(std::string_view remedy) const;
  void problem(std::string_view text) const { problems_->add(node_->place, field_, text); }

  // Any scalar as it is written, `5` and `true` included; never with a NUL character in it.
  std::optional<std::string> text() const;
  // As text(), of 1 to `most` characters, none of them a control character.
  std::optional<std::string> title(size_t most) const;
  std::optional<int64_t> integer(int64_t least, int64_t most) const;
  std::optional<double> number(const NumberRange& range) const;
  std::optional<bool> boolean() const;
  std::optional<std::string> oneOf(const std::vector<std::string_view>& choices) const;
  std::optional<Duration> duration(Duration least, Duration most) const;
  std::optional<uint64_t> positiveSize() const;
  std::optional<std::vector<YamlValue>> list() const;
  std::optional<YamlMapping> mapping() const;

 private:
  const YamlNode* node_;
  std::string field_;
  Problems* problems_;
};

// A mapping whose keys are known: each is taken once, then refuseOthers() reports the rest. Keys that repeat
// or are not plain text are reported at once; of a repeated key the first counts.
class YamlMapping {
 public:
  YamlMapping(const YamlNode& node, std::string field, Problems& problems);

  // The value under `key`, if there; the key is known from now on. `key` must be a literal or outlive this.
  std::optional<YamlValue> take(std::string_view key);

  // Every key with its value in the order of the file: for mappings whose keys are the user's.
  std::vector<std::pair<std::string, YamlValue>> all() const;

  // Reports every key that was not taken, with the known one that was probably meant.
  void refuseOthers() const;

 private:
  std::string fieldOf(std::string_view key) const;

  std::string field_;
  Problems* problems_;
  std::vector<std::pair<const YamlNode*, const YamlNode*>> entries_;
  std::map<std::string_view, const YamlNode*> byKey_;
  std::vector<std::string_view> known_;
};

// Puts a value that was read where it belongs; leaves `to` alone if there was none or it did not fit.
template <typename To, typename From>
void assign(To& to, const std::optional<From>& from) {
  if (from) to = static_cast<To>(*from);
}

}  // namespace tarcil
