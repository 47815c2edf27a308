#include "monitor/logic/pressure/resctrl_limits.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>

namespace tarcil {
namespace {

std::optional<uint64_t> hexadecimal(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

// So many of the lowest bits of the mask that are set: they have to be neighbours, and the root's are.
std::string lowestWays(uint64_t mask, uint64_t wanted) {
  uint64_t ways = 0;
  for (uint64_t taken = 0; taken < wanted && mask != 0; ++taken) {
    const uint64_t lowest = mask & (~mask + 1);
    ways |= lowest;
    mask ^= lowest;
  }
  char text[17];
  const auto end = std::to_chars(text, text + sizeof text, ways, 16);
  return {text, end.ptr};
}

std::optional<std::string> limitedWays(std::string_view mask, uint64_t least, double share) {
  const auto all = hexadecimal(mask);
  if (!all) return std::nullopt;
  const auto there = static_cast<uint64_t>(std::popcount(*all));
  const auto wanted = static_cast<uint64_t>(std::lround(share * static_cast<double>(there)));
  return lowestWays(*all, std::clamp(wanted, std::min(least, there), there));
}

std::optional<std::string> limitedBandwidth(std::string_view value, const CacheControls::Bandwidth& can,
                                            double share) {
  // AMD's processors count eighths of a gigabyte a second, and resctrl mounted with mba_MBps megabytes.
  const auto all = numberIn(value);
  if (!all || *all > 100) return std::nullopt;
  const double step = static_cast<double>(std::max<uint64_t>(1, can.step));
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(*all) / step) * step);
  return std::to_string(std::clamp(wanted, std::min(can.least, *all), *all));
}

// "0=VALUE;1=VALUE", each value as `change` makes it; nullopt where that is not what stands there.
std::optional<std::string> changed(
    std::string_view domains, const std::function<std::optional<std::string>(std::string_view)>& change) {
  std::string result;
  while (!domains.empty()) {
    const size_t end = std::min(domains.find(';'), domains.size());
    const std::string_view domain = domains.substr(0, end);
    const size_t equals = domain.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto value = change(domain.substr(equals + 1));
    if (!value) return std::nullopt;
    result.append(result.empty() ? "" : ";").append(domain.substr(0, equals + 1)).append(*value);
    domains.remove_prefix(std::min(end + 1, domains.size()));
  }
  if (result.empty()) return std::nullopt;
  return result;
}

}  // namespace

Result<std::string> limitedSchemata(const KernelFile& root, const CacheControls& controls, double ways,
                                    double bandwidth) {
  if ((ways < 1 && !controls.leastWays) || (bandwidth < 1 && !controls.bandwidth)) {
    return Error{ErrorCode::kUnavailable, "this processor does not limit that"};
  }
  std::string schemata;
  size_t number = 0;
  for (const std::string_view line : linesOf(root.text)) {
    ++number;
    const std::string_view text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string_view resource = text.substr(0, colon);
    // With code and data apart there are two of the first: L3CODE and L3DATA.
    const bool isWays = resource.starts_with("L3") && controls.leastWays;
    if (!isWays && !(resource == "MB" && controls.bandwidth)) continue;
    const auto domains = changed(text.substr(std::min(colon + 1, text.size())), [&](std::string_view value) {
      return isWays ? limitedWays(value, *controls.leastWays, ways)
                    : limitedBandwidth(value, *controls.bandwidth, bandwidth);
    });
    if (!domains) return malformed(root, number, "not the limits of cache domains");
    schemata.append(resource).append(":").append(*domains).append("\n");
  }
  return schemata;
}

}  // namespace tarcil
