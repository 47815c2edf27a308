#include "formats/parameters.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/base/units.h"
#include "formats/yaml_reader.h"

namespace tarcil {
namespace {

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr size_t kMaxNamesShown = 20;
constexpr size_t kMaxNoted = 3;  // of those in one scalar
constexpr const char* kNameRule =
    "write a letter first, then letters, digits, dashes and underscores, at most 64";

bool isParameterName(std::string_view name) {
  const auto isLetter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto isAllowed = [&](char c) {
    return isLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxParameterName && isLetter(name.front()) &&
         std::ranges::all_of(name, isAllowed);
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view withoutSpaces(std::string_view text) {
  const size_t first = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string placeholder(std::string_view name) {
  return std::string(kOpen).append(name).append(kClose);
}

struct Parameter {
  YamlValue declaration;
  YamlNode value;  // kNull: there is none
  bool isChosen = false;
  bool isUsed = false;
};

// Requires of what is asked of it after the constructor: that found no problem.
class Substitution {
 public:
  Substitution(const YamlNode& declared, const ChosenValues& chosen, Problems& problems)
      : chosen_(chosen), problems_(problems), declared_(declared, std::string(kParametersKey), problems) {
    declare();
    if (problems.none()) choose();
  }

  // In the node and what is in it.
  void in(YamlNode& node) {
    if (node.kind == YamlNode::Kind::kScalar) return inScalar(node);
    if (const auto name = nameWithoutQuotes(node)) {
      return problems_.add(node.place, placeholder(*name),
                           "is a mapping for YAML; write it in quotes: \"" + placeholder(*name) + "\"");
    }
    for (YamlNode& value : node.values) in(value);
  }

  void refuseUnused() const {
    for (const auto& [name, parameter] : parameters_) {
      if (!parameter.isUsed) {
        parameter.declaration.problem("is not used; write " + placeholder(name) +
                                      " where its value belongs, or leave it out");
      }
    }
  }

 private:
  void declare() {
    auto mapping = declared_.mapping();
    if (!mapping) return;
    const auto declarations = mapping->all();
    if (declarations.size() > kMaxParameters) {
      return declared_.problem("has " + std::to_string(declarations.size()) + " entries; write at most " +
                               std::to_string(kMaxParameters));
    }
    for (const auto& [name, value] : declarations) {
      const YamlNode::Kind kind = value.node().kind;
      if (!isParameterName(name)) {
        value.problem(std::string("has no name of a parameter; ") + kNameRule);
      } else if (kind != YamlNode::Kind::kScalar && kind != YamlNode::Kind::kNull) {
        value.refuse("write one value as default, or nothing where --set has to give one");
      } else if (value.node().text.size() > kMaxParameterBytes) {
        value.problem("is longer than " + formatSize(kMaxParameterBytes) + "; write less");
      } else {
        parameters_.emplace(name, Parameter{.declaration = value, .value = value.node()});
      }
    }
  }

  void choose() {
    for (const auto& [name, text] : chosen_) {
      const auto found = parameters_.find(name);
      if (found == parameters_.end()) {
        declared_.problem("--set " + name + ": the file declares no such parameter; " + knownNames(name));
      } else {
        found->second.value = YamlNode{.kind = YamlNode::Kind::kScalar, .text = text};
        found->second.isChosen = true;
      }
    }
    for (const auto& [name, parameter] : parameters_) {
      if (parameter.value.kind == YamlNode::Kind::kNull) {
        parameter.declaration.problem("has no value; write --set " + name + "=VALUE, or a default here");
      }
    }
  }

  // {{name}} without quotes is a mapping whose one key is a mapping whose one key is the name.
  std::optional<std::string> nameWithoutQuotes(const YamlNode& node) const {
    const auto onlyKeyOf = [](const YamlNode& mapping) {
      const bool isOne = mapping.kind == YamlNode::Kind::kMapping && mapping.keys.size() == 1 &&
                         mapping.values.front().kind == YamlNode::Kind::kNull;
      return isOne ? &mapping.keys.front() : nullptr;
    };
    const YamlNode* inner = onlyKeyOf(node);
    const YamlNode* name = inner == nullptr ? nullptr : onlyKeyOf(*inner);
    return name != nullptr && parameters_.contains(name->text) ? std::optional(name->text) : std::nullopt;
  }

  void inScalar(YamlNode& node) {
    std::string text, note;
    size_t count = 0;  // of the parameters in it
    std::string_view rest = node.text;
    for (size_t at = rest.find(kOpen); at != std::string_view::npos; at = rest.find(kOpen)) {
      text.append(rest.substr(0, at));
      rest.remove_prefix(at + kOpen.size());
      if (rest.starts_with(kOpen)) {
        text.append(kOpen);
        rest.remove_prefix(kOpen.size());
        continue;
      }
      const size_t end = std::min(rest.find(kClose), rest.size());
      const std::string name(withoutSpaces(rest.substr(0, end)));
      const auto parameter = parameters_.find(name);
      if (end == rest.size() || parameter == parameters_.end()) return refuse(node, name, end < rest.size());
      rest.remove_prefix(end + kClose.size());
      const YamlNode& value = parameter->second.value;
      substitutedBytes_ += value.text.size();
      if (substitutedBytes_ > kMaxSubstitutedBytes) return refuseMore(node);
      const bool isAll = text.empty() && count == 0 && rest.empty();
      node.quoted = isAll ? value.quoted : true;
      text.append(value.text);
      if (++count <= kMaxNoted)
        note.append(note.empty() ? "" : ", ").append(originOf(name, parameter->second));
      if (count == kMaxNoted + 1) note.append(", ...");
      parameter->second.isUsed = true;
    }
    node.text = std::move(text.append(rest));
    if (!note.empty()) problems_.note(node.place, note);
  }

  static std::string originOf(const std::string& name, const Parameter& parameter) {
    const std::string where =
        parameter.isChosen ? "--set" : "default in line " + std::to_string(parameter.value.place.line);
    return placeholder(name) + " is " + shown(parameter.value.text) + " by " + where;
  }

  void refuse(const YamlNode& node, const std::string& name, bool isClosed) {
    const std::string remedy = "write {{{{ for {{ itself";
    if (!isClosed) return problems_.add(node.place, "text", "has {{ without }} behind it; " + remedy);
    problems_.add(node.place, "text",
                  shown(placeholder(name)) + " names no parameter of this file; " + knownNames(name) +
                      ", or " + remedy);
  }

  // Once: whoever asks for too much may do so in many places.
  void refuseMore(const YamlNode& node) {
    if (std::exchange(isTooMuch_, true)) return;
    problems_.add(node.place, "text",
                  "values of parameters take up more than " + formatSize(kMaxSubstitutedBytes) +
                      " up to here; keep data in files");
  }

  std::string knownNames(const std::string& name) const {
    if (parameters_.empty()) return "none is declared";
    std::vector<std::string_view> names;
    for (const auto& [known, parameter] : parameters_) names.push_back(known);
    const std::string meant = didYouMean(name, names);
    const bool isCut = names.size() > kMaxNamesShown;
    if (isCut) names.resize(kMaxNamesShown);
    return meant + "declared are: " + joined(names) + (isCut ? ", ..." : "");
  }

  const ChosenValues& chosen_;
  Problems& problems_;
  YamlValue declared_;
  std::map<std::string, Parameter, std::less<>> parameters_;
  size_t substitutedBytes_ = 0;
  bool isTooMuch_ = false;
};

}  // namespace

Status addChosenValue(std::string_view pair, ChosenValues& to) {
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos) return invalid(shown(pair) + " is no pair; write NAME=VALUE");
  const std::string_view name = pair.substr(0, equals), value = pair.substr(equals + 1);
  if (!isParameterName(name)) return invalid(shown(name) + " is no name of a parameter; " + kNameRule);
  if (value.size() > kMaxParameterBytes) {
    return invalid("the value of " + std::string(name) + " is longer than " + formatSize(kMaxParameterBytes) +
                   "; keep data in files");
  }
  if (!isUtf8(value)) return invalid("the value of " + std::string(name) + " is not UTF-8 text");
  if (!to.emplace(name, value).second) return invalid(std::string(name) + " is given twice; keep one");
  return {};
}

void substituteParameters(YamlNode& root, const ChosenValues& chosen, Problems& problems) {
  if (root.kind != YamlNode::Kind::kMapping) return;
  const auto isDeclaration = [](const YamlNode& key) {
    return key.kind == YamlNode::Kind::kScalar && key.text == kParametersKey;
  };
  const auto key = std::ranges::find_if(root.keys, isDeclaration);
  if (key == root.keys.end()) {
    if (chosen.empty()) return;
    return problems.add(root.place, kParametersKey,
                        "is missing, so there is nothing that --set " + chosen.begin()->first +
                            " could set; declare it there, or leave --set out");
  }
  Substitution substitution(root.values[static_cast<size_t>(key - root.keys.begin())], chosen, problems);
  if (!problems.none()) return;
  for (size_t i = 0; i < root.keys.size(); ++i) {
    if (!isDeclaration(root.keys[i])) substitution.in(root.values[i]);
  }
  if (problems.none()) substitution.refuseUnused();
}

}  // namespace tarcil
