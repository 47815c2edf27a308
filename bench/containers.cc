// Question: in which containers do the small lists and tables of the shared state cost least? Of each use the
// standard library's container beside Boost.Container's: processor time, and allocations.
//
//   containers [--rounds N]
#include <CLI/CLI.hpp>

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/allocations.h"
#include "bench/report.h"
#include "core/state/commit.h"
#include "master/logic/events.h"

namespace tarcil::bench {
namespace {

using boost::container::flat_map;
using boost::container::flat_set;
using boost::container::small_vector;

constexpr int kTrials = 5;

struct Cost {
  double ns = 0, allocations = 0;
};

// Of one call, in the fastest of some trials.
template <typename Call>
Cost costOf(uint32_t calls, Call call) {
  Cost least{.ns = 1e18};
  for (int trial = 0; trial < kTrials; ++trial) {
    const Allocations before = tarcil::bench::allocations();
    const double begin = processorNs();
    for (uint32_t i = 0; i < calls; ++i) call();
    const double ns = (processorNs() - begin) / calls;
    const auto count = static_cast<double>(tarcil::bench::allocations().count - before.count);
    if (ns < least.ns) least = {ns, count / calls};
  }
  return least;
}

// The compiler is to believe that somebody looks at it.
void look(const auto& value) {
  asm volatile("" ::"r"(&value) : "memory");
}

// The copy is what is measured.
template <typename T>
T copyOf(const T& value) {
  return value;
}

void print(const std::string& use, const char* standard, const Cost& a, const char* boosts, const Cost& b) {
  std::printf("%-52s %-8s %10.1f ns %8.2f   %-13s %10.1f ns %8.2f\n", use.c_str(), standard, a.ns,
              a.allocations, boosts, b.ns, b.allocations);
}

// A list is made, copied and handed on.
template <typename List>
Cost handOn(uint32_t calls, size_t size) {
  return costOf(calls, [size] {
    List made;
    made.reserve(size);
    for (size_t i = 0; i < size; ++i) made.push_back(static_cast<typename List::value_type>(i));
    look(made);
    const List copied = copyOf(made);
    look(copied);
    const List moved = std::move(made);
    look(moved);
  });
}

// A set of units is copied with the state of its server.
template <typename Words>
Cost copy(uint32_t calls, size_t units) {
  const Words words((units + 63) / 64);
  return costOf(calls, [&words] {
    const Words copied = copyOf(words);
    look(copied);
  });
}

// Numbers by kind are copied, and one is looked up.
template <typename ByKind>
Cost copyAndFind(uint32_t calls, size_t kinds) {
  ByKind numbers;
  for (size_t i = 0; i < kinds; ++i) numbers["kind-" + std::to_string(i)];
  const std::string kind = "kind-0";
  return costOf(calls, [&numbers, &kind] {
    const ByKind copied = copyOf(numbers);
    look(copied);
    look(copied.find(kind));
  });
}

// Tasks come in order and leave from the front.
template <typename Set>
Cost queue(uint32_t calls, uint32_t tasks) {
  return costOf(std::max(calls / (tasks * tasks / 64 + 1), 1u), [tasks] {
    Set set;
    for (TaskIndex task = 0; task < tasks; ++task) set.emplace_hint(set.end(), task);
    while (!set.empty()) set.erase(set.begin());
    look(set);
  });
}

// Of so many commits in flight the first is answered and one is added.
template <typename Table>
Cost inFlight(uint32_t calls, uint64_t commits) {
  Table table;
  uint64_t next = 0;
  while (next < commits) table.emplace_hint(table.end(), next++, CommitAnswer());
  return costOf(calls, [&table, &next] {
    table.emplace_hint(table.end(), next++, CommitAnswer());
    table.erase(table.begin());
  });
}

// Candidates are written down and handed on with their explanation.
template <typename Candidates>
Cost explain(uint32_t calls) {
  return costOf(calls, [] {
    Candidates best;
    best.reserve(Explanation::kMaxCandidates);
    for (ServerId server = 0; server < Explanation::kMaxCandidates; ++server) {
      best.emplace_back();
      best.back().server = server;
    }
    look(best);
    Candidates sent = std::move(best);
    look(sent);
    const Candidates stored = std::move(sent);
    look(stored);
  });
}

// An event's actions are gathered one by one.
template <typename Actions>
Cost gather(uint32_t calls, int count) {
  return costOf(calls, [count] {
    Actions actions;
    for (int i = 0; i < count; ++i) actions.push_back(master::JobChanged{});
    look(actions);
  });
}

void measure(uint32_t rounds) {
  printConditions();
  const char* const vector = "vector";
  for (const size_t size : {0, 1, 4, 8}) {
    print("units of a claim, " + std::to_string(size) + ": made, copied, handed on", vector,
          handOn<std::vector<RuIndex>>(rounds, size), "small_vector",
          handOn<small_vector<RuIndex, 4>>(rounds, size));
  }
  for (const size_t units : {16, 100}) {
    print("free units of a server of " + std::to_string(units) + ": copied", vector,
          copy<std::vector<uint64_t>>(rounds, units), "small_vector",
          copy<small_vector<uint64_t, 1>>(rounds, units));
  }
  for (const int actions : {1, 6, 20}) {
    print("actions of an event, " + std::to_string(actions) + ": gathered", vector,
          gather<std::vector<master::Action>>(rounds / 10, actions), "small_vector",
          gather<small_vector<master::Action, 8>>(rounds / 10, actions));
  }
  for (const size_t kinds : {0, 1, 4, 16}) {
    print("countable things of " + std::to_string(kinds) + " kinds: copied, one found", "map",
          copyAndFind<std::map<std::string, std::vector<uint16_t>>>(rounds, kinds), "flat_map",
          copyAndFind<flat_map<std::string, std::vector<uint16_t>>>(rounds, kinds));
  }
  for (const uint32_t tasks : {1u, 100u, 1'000u, 10'000u}) {
    print("ready tasks of a job, " + std::to_string(tasks) + ": come and go", "set",
          queue<std::set<TaskIndex>>(rounds, tasks), "flat_set", queue<flat_set<TaskIndex>>(rounds, tasks));
  }
  for (const uint64_t commits : {8, 64}) {
    print(std::to_string(commits) + " commits in flight: one goes, one comes", "map",
          inFlight<std::map<uint64_t, CommitAnswer>>(rounds, commits), "flat_map",
          inFlight<flat_map<uint64_t, CommitAnswer>>(rounds, commits));
  }
  print("five candidates: written, handed on twice", vector, explain<std::vector<Candidate>>(rounds),
        "small_vector", explain<small_vector<Candidate, Explanation::kMaxCandidates>>(rounds));
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  CLI::App app("Measures containers in the uses that the shared state has for them.");
  uint32_t rounds = 200'000;
  app.add_option("--rounds", rounds, "Calls timed of the smallest.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  tarcil::bench::measure(rounds);
}
