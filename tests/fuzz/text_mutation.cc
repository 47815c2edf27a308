#include "tests/fuzz/text_mutation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/yaml_tree.h"
#include "tests/fuzz/edges.h"

namespace tarcil::fuzz {
namespace {

constexpr std::string_view kSyntax = "{}[]:,-?&*!|>'\"%@`# \n\t\\<=.~0019\xc3\xff";
constexpr size_t kMany = 300;              // copies of an entry,
constexpr size_t kMostCopied = 256 << 10;  // bytes of them, but for one: copies are copied again
constexpr size_t kLongText = 5'000;        // bytes
constexpr size_t kDeep = 70;               // levels: more than readers take

// --- Trees

// Plain scalars that are one word need no quotes to be read as they were.
bool isWord(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '+' || c == '-' || c == '%' || c == '/' || c == '_';
  });
}

void appendQuoted(std::string& to, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  to += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to.append(1, '\\').append(1, c);
    } else if (code < 0x20) {
      to.append("\\u00").append(1, kHex[code >> 4]).append(1, kHex[code & 15]);
    } else {
      to += c;
    }
  }
  to += '"';
}

void append(std::string& to, const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      to += "null";
      return;
    case YamlNode::Kind::kScalar:
      if (!node.quoted && isWord(node.text)) {
        to += node.text;
      } else {
        appendQuoted(to, node.text);
      }
      return;
    case YamlNode::Kind::kSequence:
    case YamlNode::Kind::kMapping: {
      const bool isMapping = node.kind == YamlNode::Kind::kMapping;
      to += isMapping ? '{' : '[';
      for (size_t i = 0; i < node.values.size(); ++i) {
        if (i > 0) to += ", ";
        if (isMapping) {
          append(to, node.keys[i]);
          to += ": ";
        }
        append(to, node.values[i]);
      }
      to += isMapping ? '}' : ']';
    }
  }
}

YamlNode scalar(std::string text, bool quoted) {
  return {.kind = YamlNode::Kind::kScalar, .quoted = quoted, .text = std::move(text)};
}

class TreeMutator {
 public:
  TreeMutator(const YamlNode& root, Rng& rng) : root_(root), rng_(rng) {}

  // Some node below, or this one.
  void change(YamlNode& node) {
    if (!node.values.empty() && rng_.below(4) != 0)
      return change(node.values[rng_.below(node.values.size())]);
    if (rng_.below(12) == 0) return nest(node);
    if (rng_.below(12) == 0) {
      node = YamlNode(somewhere(root_));
      return;
    }
    if (node.kind == YamlNode::Kind::kSequence || node.kind == YamlNode::Kind::kMapping)
      return changeEntries(node);
    changeScalar(node);
  }

 private:
  const YamlNode& somewhere(const YamlNode& node) {
    if (node.values.empty() || rng_.below(3) == 0) return node;
    return somewhere(node.values[rng_.below(node.values.size())]);
  }

  static size_t many(const YamlNode& entry) {
    std::string text;
    append(text, entry);
    return std::clamp<size_t>(kMostCopied / std::max<size_t>(1, text.size()), 1, kMany);
  }

  void nest(YamlNode& node) {
    for (size_t left = rng_.below(8) == 0 ? kDeep : 1; left > 0; --left) {
      YamlNode outer{.kind = YamlNode::Kind::kSequence};
      if (rng_.below(2) == 0) {
        outer.kind = YamlNode::Kind::kMapping;
        outer.keys.push_back(scalar("x", true));
      }
      outer.values.push_back(std::move(node));
      node = std::move(outer);
    }
  }

  void changeScalar(YamlNode& node) {
    switch (rng_.below(6)) {
      case 0:
        node.quoted = !node.quoted;
        return;
      case 1:
        node = {};
        return;
      case 2:
        node = scalar(std::string(1 + rng_.below(kLongText), 'x'), true);
        return;
      case 3:
        node.kind = YamlNode::Kind::kScalar;
        if (!node.text.empty())
          node.text[rng_.below(node.text.size())] = static_cast<char>('0' + rng_.below(10));
        return;
      default:
        node = scalar(std::string(oneOf(kEdgeTexts, rng_)), rng_.below(3) == 0);
    }
  }

  void changeEntries(YamlNode& node) {
    const bool isMapping = node.kind == YamlNode::Kind::kMapping;
    const size_t size = node.values.size();
    if (size == 0) {
      node.values.push_back(scalar(std::string(oneOf(kEdgeTexts, rng_)), false));
      if (isMapping) node.keys.push_back(scalar("x", true));
      return;
    }
    const size_t at = rng_.below(size), other = rng_.below(size);
    switch (rng_.below(isMapping ? 6 : 4)) {
      case 0: {
        const auto place = static_cast<ptrdiff_t>(at);
        node.values.erase(node.values.begin() + place);
        if (isMapping) node.keys.erase(node.keys.begin() + place);
        return;
      }
      case 1:
        std::swap(node.values[at], node.values[other]);
        return;
      case 2:
      case 3:
        for (size_t left = rng_.below(8) == 0 ? many(node.values[at]) : 1; left > 0; --left) {
          node.values.push_back(YamlNode(node.values[at]));
          if (isMapping) node.keys.push_back(YamlNode(node.keys[at]));
          if (isMapping && rng_.below(2) == 0) node.keys.back().text += std::to_string(left);
        }
        return;
      case 4:
        std::swap(node.keys[at].text, node.keys[other].text);
        return;
      default:
        changeScalar(node.keys[at]);
    }
  }

  const YamlNode root_;
  Rng& rng_;
};

// --- Lines

std::vector<std::string> pieces(const std::string& text, std::string_view separators) {
  std::vector<std::string> all;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size() - 1) + 1;
    all.push_back(text.substr(at, end - at));  // with its separator
    at = end;
  }
  return all;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

// Requires: there are pieces.
void changeOrder(std::vector<std::string>& pieces, Rng& rng) {
  const size_t at = rng.below(pieces.size());
  const auto place = pieces.begin() + static_cast<ptrdiff_t>(at);
  switch (rng.below(3)) {
    case 0:
      pieces.erase(place);
      return;
    case 1:
      pieces.insert(place, std::string(pieces[rng.below(pieces.size())]));
      return;
    default:
      std::swap(pieces[at], pieces[rng.below(pieces.size())]);
  }
}

void changeField(std::string& line, Rng& rng) {
  std::vector<std::string> fields = pieces(line, " \t,=\n");
  if (fields.empty()) return;
  if (rng.below(4) == 0) {
    changeOrder(fields, rng);
  } else {
    std::string& field = fields[rng.below(fields.size())];
    const bool isSeparated = std::string_view(" \t,=\n").find(field.back()) != std::string_view::npos;
    field = std::string(oneOf(kEdgeTexts, rng)) + (isSeparated ? field.substr(field.size() - 1) : "");
  }
  line = joined(fields);
}

using ChangeLine = void (*)(std::string& line, Rng& rng);

std::string withLineChanged(const std::string& text, ChangeLine change, Rng& rng) {
  std::vector<std::string> lines = pieces(text, "\n");
  if (lines.empty() || rng.below(10) == 0) return mutatedSyntax(text, rng);
  for (uint64_t left = 1 + rng.below(3); left > 0 && !lines.empty(); --left) {
    if (rng.below(4) == 0) {
      changeOrder(lines, rng);
    } else {
      change(lines[rng.below(lines.size())], rng);
    }
  }
  return joined(lines);
}

}  // namespace

std::string mutatedSyntax(std::string text, Rng& rng) {
  for (uint64_t edits = 1 + rng.below(8); edits > 0 && !text.empty(); --edits) {
    const size_t at = rng.below(text.size());
    switch (rng.below(4)) {
      case 0:
        text[at] = kSyntax[rng.below(kSyntax.size())];
        break;
      case 1:
        text.insert(at, 1, kSyntax[rng.below(kSyntax.size())]);
        break;
      case 2:
        text.erase(at, 1 + rng.below(12));
        break;
      default:
        text.insert(rng.below(text.size()), text.substr(at, 1 + rng.below(40)));
    }
  }
  return text;
}

std::string mutatedTree(const std::string& text, Rng& rng) {
  auto root = parseYaml(text, "input");
  if (!root || rng.below(10) == 0) return mutatedSyntax(text, rng);
  TreeMutator mutator(*root, rng);
  for (uint64_t left = 1 + rng.below(4); left > 0; --left) mutator.change(*root);
  std::string changed;
  append(changed, *root);
  return changed + "\n";
}

std::string mutatedLines(const std::string& text, Rng& rng) {
  return withLineChanged(text, changeField, rng);
}

std::string mutatedTreeLines(const std::string& text, Rng& rng) {
  return withLineChanged(
      text, [](std::string& line, Rng& rng) { line = mutatedTree(line, rng); }, rng);
}

}  // namespace tarcil::fuzz
