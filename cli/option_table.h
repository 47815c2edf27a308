// The options of a command, each described once: its name, what it sets, its unit, its bounds and its help.
// The flag, the check, the default that `--help` and docs/options.md show, and what the role starts with all
// come from that one line.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "core/base/number_range.h"
#include "core/base/time.h"
#include "core/base/units.h"

namespace tarcil {

// What a duration may be, both ends included; `word` stands for 0 where there is one, such as "off".
struct DurationRange {
  Duration least = Duration::zero();
  Duration most = kMaxDuration;
  const char* word = nullptr;
};

// Of --pressure-period.
inline constexpr DurationRange kPressurePeriod = {std::chrono::milliseconds(100), std::chrono::hours(1),
                                                  "off"};
// Of --stop-grace.
inline constexpr DurationRange kStopGrace = {Duration::zero(), std::chrono::hours(24)};

// Bad input that names the flag and what to write instead.
Duration requireDuration(const std::string& flag, const std::string& text, const DurationRange& range = {});
// Bytes in a second, more than none. Bad input that names the flag.
double requireBandwidth(const std::string& flag, const std::string& text);

// A name may be followed by an earlier one, as "--reservation-delay,--room-patience", which goes on working
// for one version of tarcil and which no help shows. A default is what the member holds when its option is
// added. Durations and sizes are read by read(), so that a wrong one is reported like other bad input.
// Members and the command must outlive the table.
class OptionTable final {
 public:
  explicit OptionTable(CLI::App& command) : command_(command) {}

  // Text as it stands. The help names the default unless the member is empty.
  CLI::Option& text(const std::string& name, std::string& member, const char* unit, const std::string& help);
  CLI::Option& duration(const std::string& name, Duration& member, const std::string& help,
                        DurationRange range = {});
  CLI::Option& size(const std::string& name, uint64_t& member, const std::string& help);
  // Sizes of which the help says what holds where they are not given.
  CLI::Option& optionalSize(const std::string& name, uint64_t& member, const std::string& help);
  CLI::Option& bandwidth(const std::string& name, double& member, const std::string& help);
  CLI::Option& texts(const std::string& name, std::vector<std::string>& member, const char* unit,
                     const std::string& help);
  CLI::Option& number(const std::string& name, double& member, const NumberRange& range,
                      const std::string& help);
  CLI::Option& flag(const std::string& name, bool& member, const std::string& help);

  // A whole number from `least` to `most`.
  template <std::integral Number>
  CLI::Option& count(const std::string& name, Number& member, int64_t least, int64_t most,
                     const std::string& help, const char* unit = "N") {
    return optionalCount(name, member, least, most, withDefault(help, std::to_string(member)), unit);
  }
  // The same, of which the help says what holds where it is not given.
  template <std::integral Number>
  CLI::Option& optionalCount(const std::string& name, Number& member, int64_t least, int64_t most,
                             const std::string& help, const char* unit = "N") {
    return *command_.add_option(name, member, help)->check(wholeNumber(least, most))->type_name(unit);
  }

  // Reads what was given. Throws bad input.
  void read();

 private:
  static std::string withDefault(const std::string& help, const std::string& value) {
    return help + " Default: " + value;
  }
  // An option whose text goes to `read` when the command runs.
  CLI::Option& later(const std::string& name, const char* unit, const std::string& help,
                     std::function<void(const std::string&)> read);

  CLI::App& command_;
  std::vector<std::pair<CLI::Option*, std::function<void(const std::string&)>>> readers_;
};

}  // namespace tarcil
