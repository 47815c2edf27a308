#include "latebinding/options.h"

#include <sstream>

namespace tarcil::late {
namespace {

// Collects a sentence for each condition that does not hold.
class Problems {
 public:
  template <typename Value>
  void unless(bool holds, const char* field, const Value& value, const char* remedy) {
    if (holds) return;
    std::ostringstream text;
    text << field << ": " << value << "; write " << remedy;
    found_.push_back(text.str());
  }
  void positive(const char* field, Duration value) {
    unless(value > Duration(0), field, value.count(), "more than 0 us");
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

bool isRatio(double d) {
  return d >= 1 && d <= 100;
}

}  // namespace

std::vector<std::string> problems(const SchedulerOptions& options) {
  Problems found;
  found.unless(isRatio(options.probeRatio), "probeRatio", options.probeRatio, "1 to 100");
  found.unless(isRatio(options.leastRatio), "leastRatio", options.leastRatio, "1 to 100");
  found.unless(isRatio(options.mostRatio) && options.mostRatio >= options.leastRatio, "mostRatio",
               options.mostRatio, "leastRatio to 100");
  found.positive("repeat", options.repeat);
  found.unless(options.mostRepeat >= options.repeat, "mostRepeat", options.mostRepeat.count(),
               "at least repeat");
  return found.take();
}

std::vector<std::string> problems(const QueueOptions& options) {
  Problems found;
  found.positive("repeat", options.repeat);
  found.positive("patience", options.patience);
  found.unless(options.passOver >= Duration(0), "passOver", options.passOver.count(), "0 us or more");
  found.unless(options.noiseFloor >= 0 && options.noiseFloor <= 99, "noiseFloor", options.noiseFloor,
               "0 to 99");
  found.unless(options.lookahead >= 1, "lookahead", options.lookahead, "1 or more");
  found.unless(options.mostReservations >= 1, "mostReservations", options.mostReservations, "1 or more");
  return found.take();
}

std::vector<std::string> problems(const PoolOptions& options) {
  Problems found;
  found.unless(options.block >= 1, "block", options.block, "1 or more");
  found.unless(options.most <= UINT16_MAX, "most", options.most, "at most 65535");
  found.unless(options.least <= options.most, "least", options.least, "at most `most`");
  found.unless(isRatio(options.reservationsPerTask), "reservationsPerTask", options.reservationsPerTask,
               "1 to 100");
  found.positive("shrinkAfter", options.shrinkAfter);
  found.positive("growPause", options.growPause);
  found.positive("repeat", options.repeat);
  return found.take();
}

std::vector<std::string> problems(const ChargeOptions& options) {
  Problems found;
  found.positive("smoothing", options.smoothing);
  found.unless(options.threshold >= 1, "threshold", options.threshold, "1 or more");
  found.positive("interval", options.interval);
  return found.take();
}

std::vector<std::string> problems(const ClientOptions& options) {
  Problems found;
  found.positive("heartbeat", options.heartbeat);
  found.unless(options.deadAfter > options.heartbeat, "deadAfter", options.deadAfter.count(),
               "more than heartbeat");
  found.positive("roundPause", options.roundPause);
  return found.take();
}

}  // namespace tarcil::late
