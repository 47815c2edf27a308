#include "formats/yaml_tree.h"

#include <fcntl.h>
#include <unistd.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

FilePosition placeOf(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

// Thrown out of the parser at a value that a bound or a rule of ours forbids.
[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem) {
  throw YAML::ParserException(mark, problem);
}

size_t memoryOf(const YamlNode& node) {
  size_t sum = sizeof(YamlNode) + node.text.size();
  for (const YamlNode& key : node.keys) sum += memoryOf(key);
  for (const YamlNode& value : node.values) sum += memoryOf(value);
  return sum;
}

// Builds the tree from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlNode takeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(seenDocument_, true)) {
      refuse(mark, "the file has text after the end of its first document; keep one document");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    attach(mark, anchor, {.kind = YamlNode::Kind::kNull, .place = placeOf(mark)});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuseTag(mark, tag);
    attach(mark, anchor,
           {.kind = YamlNode::Kind::kScalar, .place = placeOf(mark), .quoted = tag == "!", .text = value});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchored_.find(anchor);
    if (found == anchored_.end()) refuse(mark, "an alias stands inside what it repeats; write the value out");
    YamlNode copy = copied(mark, found->second);
    copy.place = placeOf(mark);
    attach(mark, YAML::NullAnchor, std::move(copy));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::kMapping);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    YamlNode node;
  };

  static void refuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(mark, "tag " + shown(tag) + " is not read; remove it");
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    refuseTag(mark, tag);
    if (open_.size() == kMaxYamlDepth) {
      refuse(mark,
             "values are nested deeper than " + std::to_string(kMaxYamlDepth) + " levels; write them flat");
    }
    open_.push_back({mark, anchor, {.kind = kind, .place = placeOf(mark)}});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    attach(closed.mark, closed.anchor, std::move(closed.node));
  }

  // Puts a finished value where it belongs.
  void attach(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode node) {
    if (anchor != YAML::NullAnchor) anchored_.insert_or_assign(anchor, copied(mark, node));
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    YamlNode& parent = open_.back().node;
    const bool isKey = parent.kind == YamlNode::Kind::kMapping && parent.keys.size() == parent.values.size();
    // The parser places a value that is missing where the next key starts.
    const bool isMissing =
        node.kind == YamlNode::Kind::kNull && parent.kind == YamlNode::Kind::kMapping && !isKey;
    if (isMissing) node.place = parent.keys.back().place;
    (isKey ? parent.keys : parent.values).push_back(std::move(node));
  }

  // A copy for an anchor or an alias, charged to their common bound: nested ones would grow exponentially.
  YamlNode copied(const YAML::Mark& mark, const YamlNode& node) {
    copiedBytes_ += memoryOf(node);
    if (copiedBytes_ > kMaxYamlAliasBytes) {
      refuse(mark, "anchors and aliases repeat too much; write the values out");
    }
    return node;
  }

  bool seenDocument_ = false;
  YamlNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchored_;
  size_t copiedBytes_ = 0;
};

// The first byte that is not text, if any. yaml-cpp would take some control characters for the end of
// the input.
std::optional<std::pair<FilePosition, std::string>> findForeignByte(std::string_view text) {
  FilePosition place;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t length = utf8Length(text.substr(at));
    if (length == 0) return {{place, "the file is not UTF-8 text; save it as UTF-8"}};
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) {
      return {{place, "control character " + shown(text.substr(at, 1)) + "; remove it"}};
    }
    at += length;
    place.column += static_cast<int>(length);
    if (c == '\n') place = {place.line + 1, 1};
  }
  return std::nullopt;
}

Error problemAt(const std::string& name, FilePosition place, std::string_view field,
                std::string_view problem) {
  Problems problems(name);
  problems.add(place, field, problem);
  return problems.error();
}

// A tab that a line begins with, at the one where the parser gave up or beside it: it has other words for
// that.
std::optional<FilePosition> findTabAsIndent(std::string_view text, int line) {
  FilePosition place{1, 1};
  bool isIndent = true;
  for (const char c : text) {
    if (isIndent && c == '\t' && place.line >= line - 1) return place;
    isIndent = c == '\n' || (isIndent && c == ' ');
    place = c == '\n' ? FilePosition{place.line + 1, 1} : FilePosition{place.line, place.column + 1};
    if (place.line > line + 1) break;
  }
  return std::nullopt;
}

// yaml-cpp names characters of the file as they are.
std::string describeSyntax(const std::string& message) {
  const std::string problem = isPrintable(message) ? message : shown(message);
  const bool hasRemedy = problem.find(';') != std::string::npos;
  return hasRemedy ? problem : problem + "; check indentation, quotes and brackets here and just before";
}

}  // namespace

Result<YamlNode> parseYaml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxYamlBytes) {
    return problemAt(name, {}, "file",
                     "is larger than " + formatSize(kMaxYamlBytes) + "; keep data in files of its own");
  }
  if (auto foreign = findForeignByte(text)) return problemAt(name, foreign->first, "text", foreign->second);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder))
      return problemAt(name, {}, "file", "is empty; write the fields into it");
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.takeRoot();
  } catch (const YAML::Exception& exception) {
    const FilePosition place = placeOf(exception.mark);
    if (const auto tab = findTabAsIndent(text, place.line)) {
      return problemAt(name, *tab, "syntax",
                       "the line begins with a tab; YAML takes spaces, so write these in its place");
    }
    return problemAt(name, place, "syntax", describeSyntax(exception.msg));
  } catch (const std::exception& exception) {
    return problemAt(name, {}, "syntax", describeSyntax(exception.what()));
  }
}

Result<std::string> readTextFile(const std::string& path, size_t mostBytes) {
  // It may come out of a file that was read.
  const bool isStdin = path == kStdin;
  const std::string name = isStdin ? "stdin" : isPrintable(path) ? path : shown(path);
  const auto failed = [&name](const char* reason) {
    return invalid(name + ": cannot be read: " + reason + "; check the path and its permissions");
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      isStdin ? ::fdopen(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), "rb") : std::fopen(path.c_str(), "rbe"),
      &std::fclose);
  if (!file) return failed(std::strerror(errno));
  std::string content(mostBytes + 1, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (std::ferror(file.get()) != 0) return failed(std::strerror(errno));
  if (content.size() > mostBytes)
    return invalid(name + ": is larger than " + formatSize(mostBytes) + "; make it smaller");
  return content;
}

}  // namespace tarcil
