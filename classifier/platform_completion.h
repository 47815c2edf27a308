// How fast an application is on platforms where it was not measured.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classifier/completer.h"

namespace tarcil {

// Performance by name of the platform, above 0, in a unit of the application's own: only ratios count.
using PlatformSpeeds = std::map<std::string, double>;

struct CompletedPlatform {
  Origin origin = Origin::kAssumed;  // never kAssumed here: such platforms are left out
  double performance = 0;            // relative to the best of those listed, in (0, 1]
  double expectedError = 0;          // mean absolute error to expect of it; 0 where measured
};

// The error in hundredths, at most 99.
EntryOrigin originOf(const CompletedPlatform& platform);

// Ratios between platforms are completed on a logarithmic scale, relative to one platform, the reference: the
// scale of an application that was measured elsewhere alone is not known. Constant after construction.
class PlatformCompleter {
 public:
  // The reference is the platform on which most known applications were measured (of several, the first by
  // name). Applications that were not measured there are left out.
  explicit PlatformCompleter(std::span<const PlatformSpeeds> known, const CompleterOptions& options = {});

  // Empty where no application is known. Measure a new application here first.
  const std::string& reference() const { return reference_; }

  // What was measured, and what can be inferred from it: nothing where it was measured, but not on the
  // reference. An application that was measured nowhere is as the others are in general. Ratios beyond 16
  // count as 16.
  std::map<std::string, CompletedPlatform> complete(const PlatformSpeeds& measured) const;

 private:
  std::string reference_;
  std::vector<std::string> others_;  // the completer's columns
  std::optional<Completer> ratios_;  // log2 to the reference
};

}  // namespace tarcil
