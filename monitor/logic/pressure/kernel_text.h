// What the parsers of the kernel's files have in common: lines, fields, numbers, and errors that name the
// place. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// The text of one file, and its name for errors.
struct KernelFile {
  std::string_view name;
  std::string_view text;
};

// kInvalid: "<file>:<line>: <problem>". Lines count from 1.
Error malformed(const KernelFile& file, size_t line, const std::string& problem);

// Without the newlines; none after the last.
std::vector<std::string_view> linesOf(std::string_view text);

// Separated by blanks or tabs.
std::vector<std::string_view> fieldsOf(std::string_view line);

// Decimal digits and nothing else, at most 2^64 - 1.
std::optional<uint64_t> numberIn(std::string_view text);

// Lines of a key and a number: "key N", "key: N", "key: N kB"; kB are turned into bytes. Every key in
// `wanted` must be there, with a number; all other lines are passed over.
Result<std::map<std::string_view, uint64_t>> numbersByKey(const KernelFile& file,
                                                          const std::vector<std::string_view>& wanted);

// A file of one number.
Result<uint64_t> onlyNumber(const KernelFile& file);

}  // namespace tarcil
