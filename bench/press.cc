// Presses on one resource.
//
//   press RESOURCE INTENSITY CORE CALIBRATION      e.g. press llc 99 1 calibration.json
//
// On that core, until stdin ends: the neighbour that bench/co_runs.py puts beside programs. Prints the
// pressure that it reached when it presses so hard, and again at the end, when others were beside it.
//
//   press RESOURCE INTENSITY here CALIBRATION
//
// On the cores that it may use, until it is ended: a kernel as an application of its own, for
// scripts/profile-applications.py. Prints how much work it did a second, not counting time in which others
// had its cores: "work: NUMBER".
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "classifier/kernels/press.h"
#include "formats/calibration_file.h"
#include "profiler/calibrate.h"

namespace tarcil {
namespace {

template <typename T>
T require(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

void require(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

constexpr std::chrono::milliseconds kWindow{200};

// Until it is ended.
[[noreturn]] void sayWork(Resource resource, const Press& press) {
  while (true) {
    std::printf("work: %.6g\n", paceOver(resource, press, kWindow).speed);
    std::fflush(stdout);
  }
}

int run(const std::string& name, int intensity, const std::string& core, const std::string& path) {
  const bool isApplication = core == "here";
  const auto resource = resourceNamed(name);
  if (!resource) throw std::runtime_error(name + " is no resource");
  const Calibration calibration = require(readCalibration(path));
  PressPlan plan;
  plan.kernel.resource = *resource;
  plan.kernel.machine = readMachine();
  plan.kernel.machine.llcBytes = calibration.llcBytes;
  plan.cores = isApplication ? plan.kernel.machine.cores : std::vector<int>{std::stoi(core)};
  if (calibration[*resource].peak > 0) plan.peak = calibration[*resource].peak;
  Press press = require(Press::start(plan));
  require(press.set(settingFor(calibration[*resource], intensity)));

  const auto say = [&](double rate) {
    std::printf("%.1f\n", pressureReached(calibration, *resource, intensity, rate));
    std::fflush(stdout);
  };
  if (isApplication) sayWork(*resource, press);
  say(paceOver(*resource, press, kWindow).rate);
  const Press::Done before = press.done();
  const auto since = std::chrono::steady_clock::now();
  char ignored[64];
  while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
  }
  say(paceBetween(*resource, before, press.done(), std::chrono::steady_clock::now() - since).rate);
  return 0;
}

}  // namespace
}  // namespace tarcil

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "press RESOURCE INTENSITY CORE|here CALIBRATION\n");
    return 2;
  }
  try {
    return tarcil::run(argv[1], std::atoi(argv[2]), argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "press: %s\n", error.what());
    return 1;
  }
}
