#include "bench/corun_data.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace tarcil::bench {
namespace {

// The cells of a CSV file without quotes, one line at a time.
class Cells {
 public:
  explicit Cells(const std::string& path) : path_(path), file_(path) {}

  bool isOpen() const { return file_.is_open(); }

  // False at the end of the file.
  bool nextLine() {
    std::string text;
    if (!std::getline(file_, text)) return false;
    ++line_;
    cells_.clear();
    std::istringstream line(text);
    for (std::string cell; std::getline(line, cell, ',');) cells_.push_back(cell);
    return true;
  }
  const std::vector<std::string>& all() const { return cells_; }

  // Above 0.
  Result<double> ratio(size_t column) const {
    double value = 0;
    if (column < cells_.size()) {
      const std::string& cell = cells_[column];
      const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (code == std::errc() && value > 0) return value;
    }
    return problem(column, "is not a ratio above 0");
  }
  Error problem(size_t column, const std::string& what) const {
    return invalid(path_ + ":" + std::to_string(line_) + ": field " + std::to_string(column + 1) + ": " +
                   what + "; see docs/accuracy.md for the format");
  }
  Error absent() const {
    return invalid(path_ +
                   ": cannot be read; pass the path of the co-run data (docs/accuracy.md says which)");
  }

 private:
  std::string path_;
  std::ifstream file_;
  size_t line_ = 0;
  std::vector<std::string> cells_;
};

// As much as it takes to hold a program out, know four entries of it and complete another.
Result<CoRuns> ifEnough(CoRuns runs, const std::string& path) {
  if (runs.programs.size() > 1 && runs.neighbours.size() > 5) return runs;
  return invalid(path + ": fewer than two programs or six columns: too little to complete anything from");
}

size_t numberOf(std::vector<std::string>& names, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<size_t>(it - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

Result<CoRuns> readPairs(const std::string& path) {
  Cells cells(path);
  if (!cells.isOpen() || !cells.nextLine()) return cells.absent();
  struct Pair {
    size_t first, second;
    double performanceOfFirst, performanceOfSecond;
  };
  CoRuns runs;
  std::vector<Pair> pairs;
  while (cells.nextLine()) {
    const auto first = cells.ratio(2);
    if (!first) return first.error();
    const auto second = cells.ratio(3);
    if (!second) return second.error();
    const size_t a = numberOf(runs.programs, cells.all()[0]), b = numberOf(runs.programs, cells.all()[1]);
    pairs.push_back({a, b, *first, *second});
  }
  runs.neighbours = runs.programs;
  runs.performance.assign(runs.programs.size(), Entries(runs.programs.size()));
  for (const Pair& pair : pairs) {
    runs.performance[pair.first][pair.second] = pair.performanceOfFirst;
    runs.performance[pair.second][pair.first] = pair.performanceOfSecond;
  }
  return ifEnough(std::move(runs), path);
}

Result<std::vector<Triple>> readTriples(const std::string& path, const CoRuns& pairs) {
  Cells cells(path);
  if (!cells.isOpen() || !cells.nextLine()) return cells.absent();
  std::vector<Triple> triples;
  while (cells.nextLine()) {
    Triple triple{};
    for (size_t i = 0; i < 3; ++i) {
      const auto performance = cells.ratio(3 + i);
      if (!performance) return performance.error();
      const auto it = std::find(pairs.programs.begin(), pairs.programs.end(), cells.all()[i]);
      if (it == pairs.programs.end()) return cells.problem(i, "is none of the programs of the pairs");
      triple.programs[i] = static_cast<size_t>(it - pairs.programs.begin());
      triple.performance[i] = *performance;
    }
    for (size_t i = 0; i < 3; ++i) {
      if (!pairs.performance[triple.programs[i]][triple.programs[(i + 1) % 3]]) {
        return cells.problem(i, "no pair with the program of the next field was measured");
      }
    }
    triples.push_back(triple);
  }
  return triples;
}

Result<CoRuns> readKernels(const std::string& path) {
  Cells cells(path);
  if (!cells.isOpen() || !cells.nextLine()) return cells.absent();
  CoRuns runs;
  runs.neighbours = cells.all();
  if (!runs.neighbours.empty()) runs.neighbours.erase(runs.neighbours.begin());
  while (cells.nextLine()) {
    Entries row;
    for (size_t k = 0; k < runs.neighbours.size(); ++k) {
      const auto slowdown = cells.ratio(1 + k);
      if (!slowdown) return slowdown.error();
      row.emplace_back(1 / *slowdown);
    }
    runs.programs.push_back(cells.all()[0]);
    runs.performance.push_back(std::move(row));
  }
  return ifEnough(std::move(runs), path);
}

}  // namespace tarcil::bench
