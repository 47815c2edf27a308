#include "cli/output/sample_table.h"

#include <algorithm>

namespace tarcil {

std::vector<SampleRow> sampleRows(const std::vector<double>& shares, const std::vector<uint32_t>& tasks,
                                  double confidence) {
  std::vector<SampleRow> rows;
  for (const double p : shares) {
    for (const uint32_t number : tasks) rows.push_back({p, number, drawsNeeded(p, confidence, number)});
  }
  return rows;
}

bool isConfidence(double confidence) {
  return confidence > 0 && confidence < 1;
}

bool areShares(const std::vector<double>& shares) {
  return std::ranges::all_of(shares, [](double p) { return p >= 0 && p <= 1; });
}

Json jsonOf(const SampleRow& row) {
  return {{"p", row.p},
          {"tasks", row.tasks},
          {"ratio", row.ratio() ? Json(*row.ratio()) : Json()},
          {"samples", row.samples ? Json(*row.samples) : Json()},
          {"guarantee", row.reached()}};
}

}  // namespace tarcil
