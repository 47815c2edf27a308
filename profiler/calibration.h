// What the dials of the kernels mean on one machine, and how much the kernels disturb each other. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/model/resources.h"

namespace tarcil {

// A position of the dial, and what was measured there.
struct DialPoint {
  int intensity = 0;
  double value = 0;

  bool operator==(const DialPoint&) const = default;
};

struct ResourceCalibration {
  // Why the kernel does not run here; nullopt: it does.
  std::optional<std::string> absent;
  // Work a second at 99 on all cores; 0 where it could not be measured.
  double peak = 0;
  // Pressure reached at some intensities, in [0, 99]: of the peak, of the memory, or of the cache as the time
  // of a walk tells it.
  std::vector<DialPoint> reached;
  // Where the kernel's dial has to stand to reach that, rising: beyond the intensity where lines of a cache
  // push each other out before it is full. Empty: at the intensity itself.
  std::vector<DialPoint> settings;
  // Why it cannot be contended for between cores of this machine; nullopt: it can.
  std::optional<std::string> notContended;
  // What a kernel at full pressure on one core loses of its speed while another one on the other cores
  // presses so hard, rising. The intensity is the pressure that the other one reached.
  std::vector<DialPoint> lost;

  bool operator==(const ResourceCalibration&) const = default;
};

// The largest distance between an intensity and what was reached there; nullopt where nothing was measured.
std::optional<double> worstError(const ResourceCalibration& resource);

// A dial that is further off than this is not to be trusted.
inline constexpr double kMaxDialError = 5;

// Where the kernel's dial has to stand for it to press so hard; between points along straight lines.
int settingFor(const ResourceCalibration& resource, int intensity);

// Where a dial that reached `reached` at `setting` is tried next to reach `intensity`. Never
// beyond kFarthestSetting.
int nextSetting(int intensity, int setting, double reached);
inline constexpr int kFarthestSetting = 300;

// The pressure that takes so much of a kernel's speed: what somebody causes beside whom the kernel loses
// `share` of it. nullopt: nothing that is lost here tells (`notContended`). Between measured points along
// straight lines; never above 99.
std::optional<int> pressureThatTakes(const ResourceCalibration& resource, double share);

struct Calibration {
  std::string platform;
  std::string processor;
  int cores = 0;
  bool hasSiblings = false;
  // As the machine says; and the last-level cache as walks find it, which is less where a hypervisor or other
  // guests keep some of it. Dials stand for shares of the latter.
  uint64_t llcBytesSaid = 0;
  uint64_t llcBytes = 0;
  std::array<ResourceCalibration, kResources> resources;
  // [i][j]: the share of its speed that the kernel of j loses while the one of i presses at 99 on the other
  // cores. nullopt: not measurable here.
  std::array<std::array<std::optional<double>, kResources>, kResources> crossTalk;

  const ResourceCalibration& operator[](Resource resource) const {
    return resources[static_cast<size_t>(resource)];
  }
  ResourceCalibration& operator[](Resource resource) { return resources[static_cast<size_t>(resource)]; }
  bool operator==(const Calibration&) const = default;
};

// What a kernel loses beside another one at 99 must be more than this to tell anything: runs on a quiet
// machine differ by half as much.
inline constexpr double kMinLost = 0.1;

// The part of a walk's places that it finds in the cache, in [0, 1], from the time of a step: `fits` is that
// of a walk that surely fits, `exceeds` that of a walk through `times` as much as the cache holds, which
// finds 1 / times of its places there.
double shareFound(double fits, double exceeds, double times, double step);

}  // namespace tarcil
