// What is wrong with a file that a user wrote: every problem with its place, so that one run shows them all.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// Line and column of a file, both counted from 1; columns count bytes.
struct FilePosition {
  int line = 1;
  int column = 1;

  auto operator<=>(const FilePosition&) const = default;
};

class Problems {
 public:
  // `file` as the user named it; kStdin (formats/yaml_tree.h) for what came from there.
  explicit Problems(std::string file) : file_(file == "-" ? "stdin" : std::move(file)) {}

  // `problem` says what is wrong and what to write instead: "is 0; write a whole number from 1 to 100". An
  // empty field stands for the file as a whole.
  void add(FilePosition place, std::string_view field, std::string_view problem);

  // Problems at this place that are added from now on say this too, in brackets.
  void note(FilePosition place, std::string text) { notes_.insert_or_assign(place, std::move(text)); }

  // Takes over what was found in another file; it comes after this file's own problems.
  void addOther(const Error& error) { others_.push_back(error.message); }

  bool none() const { return count_ == 0 && others_.empty(); }

  // kInvalid; one line "file:line:column: field: problem" for each problem, in the order of the file. At most
  // 50 are shown, the rest counted. Requires: !none().
  Error error() const;

 private:
  struct Line {
    FilePosition place;
    std::string text;
  };

  std::string file_;
  std::vector<Line> lines_;
  size_t count_ = 0;  // of all, kept or not
  std::vector<std::string> others_;
  std::map<FilePosition, std::string> notes_;
};

}  // namespace tarcil
