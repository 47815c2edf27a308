#include "monitor/container/cpu_topology.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

namespace tarcil {
namespace {

// More than that is no machine but a broken file.
constexpr uint32_t kMaxCores = 1u << 16;

std::vector<uint32_t> coresIn(const std::string& file) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return parseCoreList(line);
}

std::map<uint32_t, uint32_t> nodesOfThreads(const std::string& sys) {
  std::map<uint32_t, uint32_t> nodes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(sys + "/devices/system/node", error)) {
    const std::string name = entry.path().filename();
    uint32_t node = 0;
    if (!name.starts_with("node")) continue;
    const auto [end, bad] = std::from_chars(name.data() + 4, name.data() + name.size(), node);
    if (bad != std::errc() || end != name.data() + name.size()) continue;
    for (const uint32_t thread : coresIn(entry.path() / "cpulist")) nodes.emplace(thread, node);
  }
  return nodes;
}

// The first thread of the core that a thread is on.
uint32_t coreOf(const std::string& sys, uint32_t thread) {
  const std::string folder = sys + "/devices/system/cpu/cpu" + std::to_string(thread) + "/topology";
  for (const char* file : {"/core_cpus_list", "/thread_siblings_list"}) {  // of newer and of older kernels
    const auto siblings = coresIn(folder + file);
    if (std::find(siblings.begin(), siblings.end(), thread) != siblings.end()) return siblings.front();
  }
  return thread;
}

bool readNumber(const char*& at, const char* end, uint32_t& number) {
  const auto [next, bad] = std::from_chars(at, end, number);
  at = next;
  return bad == std::errc() && number < kMaxCores;
}

}  // namespace

std::vector<uint32_t> parseCoreList(const std::string& text) {
  std::vector<uint32_t> cores;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    while (!part.empty() && (part.back() == '\n' || part.back() == ' ')) part.pop_back();
    const char* at = part.data();
    const char* const end = at + part.size();
    uint32_t first = 0, last = 0;
    if (!readNumber(at, end, first)) return {};
    last = first;
    if (at != end && (*at++ != '-' || !readNumber(at, end, last) || at != end || last < first)) return {};
    for (uint32_t core = first; core <= last; ++core) cores.push_back(core);
  }
  return cores;
}

CpuTopology cpuTopology(const std::string& sys, const std::vector<uint32_t>& threads) {
  const auto nodes = nodesOfThreads(sys);
  std::map<uint32_t, CoreUnit> cores;
  for (const uint32_t thread : threads) {
    CoreUnit& core = cores[coreOf(sys, thread)];
    core.threads.push_back(thread);
    if (const auto found = nodes.find(thread); found != nodes.end()) core.node = found->second;
  }
  CpuTopology result{{}, 0, 1};
  for (auto& [first, core] : cores) {
    std::sort(core.threads.begin(), core.threads.end());
    result.threadsPerCore = std::max(result.threadsPerCore, static_cast<uint32_t>(core.threads.size()));
    result.cores.push_back(std::move(core));
  }
  std::sort(result.cores.begin(), result.cores.end(), [](const CoreUnit& a, const CoreUnit& b) {
    return std::tie(a.node, a.threads) < std::tie(b.node, b.threads);
  });
  for (size_t i = 0; i < result.cores.size(); ++i) {
    if (i == 0 || result.cores[i].node != result.cores[i - 1].node) ++result.nodes;
  }
  return result;
}

std::vector<CoreUnit> coreUnits(const CpuTopology& topology, uint32_t rus) {
  std::vector<CoreUnit> units;
  const bool whole = rus <= topology.cores.size();
  for (const CoreUnit& core : topology.cores) {
    if (whole) units.push_back(core);
    for (const uint32_t thread : core.threads) {
      if (!whole) units.push_back({{thread}, core.node});
    }
  }
  if (rus > 0 && rus < units.size()) units.resize(rus);
  return units;
}

}  // namespace tarcil
