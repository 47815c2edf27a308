// YAML text as a tree of values that know their place. Everything that could hurt is bounded here: size,
// depth, copies made by aliases, encoding. JSON is YAML, so it is read too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "formats/problems.h"

namespace tarcil {

inline constexpr size_t kMaxYamlBytes = 1u << 20;
inline constexpr size_t kMaxYamlDepth = 64;
inline constexpr size_t kMaxYamlAliasBytes =
    4u << 20;  // memory that copies made for anchors and aliases may take

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMapping };

  Kind kind = Kind::kNull;
  FilePosition place = {};
  bool quoted = false;    // a scalar in quotes or in block style: text even if it looks like a number
  std::string text = {};  // of a scalar, as UTF-8
  std::vector<YamlNode> keys = {};    // of a mapping, in the order of the file; may repeat
  std::vector<YamlNode> values = {};  // of a sequence; of a mapping: values[i] belongs to keys[i]
};

// The one document in `text`. Error: kInvalid with "name:line:column: field: problem; remedy" where the text
// is not one YAML document within the bounds above. Never throws on any input.
Result<YamlNode> parseYaml(std::string_view text, const std::string& name);

// The bytes of a file. Error: kInvalid naming the path, when it cannot be read or holds more
// than `mostBytes`.
inline constexpr std::string_view kStdin = "-";
Result<std::string> readTextFile(const std::string& path, size_t mostBytes);

}  // namespace tarcil
