#include "cli/job_reference.h"

#include <algorithm>

#include "core/base/whole_number.h"

namespace tarcil {
namespace {

constexpr std::string_view kIdMark = "id:", kNameMark = "name:";
constexpr size_t kIdDigits = 2 * sizeof(JobId::bytes);

bool isDecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool isHexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string inLowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

Error noJob(const std::string& text) {
  return invalid(
      "'" + text +
      "' names no job; write its number, as in 4711, or its name, as in name:sort, or at least the "
      "first 4 digits of its id, as in id:3f2a (`tarcil job list` shows them)");
}

}  // namespace

Result<JobReference> parseJobReference(const std::string& text) {
  JobReference reference;
  if (text.starts_with(kNameMark)) {
    reference.name = text.substr(kNameMark.size());
    if (reference.name.empty()) return noJob(text);
    return reference;
  }
  std::string job = text;
  if (const size_t dot = text.find('.'); dot != std::string::npos) {
    reference.task = wholeNumberIn<TaskIndex>(std::string_view(text).substr(dot + 1));
    if (!reference.task) return noJob(text);
    job.resize(dot);
  }
  const bool isMarked = job.starts_with(kIdMark);
  if (!isMarked && isDecimal(job) && job.size() != kIdDigits) {
    const auto number = wholeNumberIn<JobNumber>(job);
    if (!number || *number == 0) return noJob(text);
    reference.number = *number;
    return reference;
  }
  reference.prefix = inLowerCase(isMarked ? job.substr(kIdMark.size()) : job);
  const size_t digits = reference.prefix.size();
  if (digits < kMinIdPrefix || digits > kIdDigits || !isHexadecimal(reference.prefix)) return noJob(text);
  return reference;
}

std::string describe(const JobReference& reference) {
  if (reference.number > 0) return "the number " + std::to_string(reference.number);
  if (!reference.name.empty()) return "a name like " + reference.name;
  return "an id that begins with " + reference.prefix;
}

std::string literalPart(const std::string& pattern) {
  return pattern.substr(0, pattern.find_first_of("*?[\\"));
}

}  // namespace tarcil
