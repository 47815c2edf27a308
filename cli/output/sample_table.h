// How many slots must be drawn (core/model/sample_size.h), as a table.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/sample_size.h"
#include "formats/json.h"

namespace tarcil {

struct SampleRow {
  double p = 0;
  uint32_t tasks = 1;
  std::optional<uint64_t> samples;  // none where no number of draws is enough

  std::optional<double> ratio() const {
    return samples ? std::optional(static_cast<double>(*samples) / tasks) : std::nullopt;
  }
  double reached() const { return samples ? guarantee(p, *samples, tasks) : 0; }
};
// For each share and number of tasks. Requires: isConfidence(confidence), areShares(shares), each number of
// tasks is 1 or more.
std::vector<SampleRow> sampleRows(const std::vector<double>& shares, const std::vector<uint32_t>& tasks,
                                  double confidence);

// What these may be, and what to write where they are not so.
bool isConfidence(double confidence);
bool areShares(const std::vector<double>& shares);
inline constexpr const char* kConfidenceRemedy = "write a number between 0 and 1, such as 0.999";
inline constexpr const char* kSharesRemedy = "write shares of acceptable slots from 0 to 1, such as 0.05,0.2";

// As `tune --table --json` shows it.
Json jsonOf(const SampleRow& row);

}  // namespace tarcil
