#include "cli/option_table.h"

#include <charconv>
#include <sstream>

#include "core/base/failure.h"

namespace tarcil {
namespace {

std::string shownName(const std::string& names) {
  return names.substr(0, names.find(','));
}

}  // namespace

Duration requireDuration(const std::string& flag, const std::string& text, const DurationRange& range) {
  if (range.word != nullptr && text == range.word) return Duration::zero();
  const std::string otherwise = range.word != nullptr ? std::string("; or ") + range.word : "";
  const auto duration = parseDuration(text);
  if (!duration) throw badInput(flag + ": " + duration.error().message + otherwise);
  if (*duration < range.least || *duration > range.most) {
    throw badInput(flag + ": " + text + " is out of range; write " + formatDuration(range.least) + " to " +
                   formatDuration(range.most) + otherwise);
  }
  return *duration;
}

double requireBandwidth(const std::string& flag, const std::string& text) {
  const auto bytes = parseSize(text);
  if (!bytes) throw badInput(flag + ": " + bytes.error().message);
  if (*bytes == 0) throw badInput(flag + ": is 0; leave it out where it is not known");
  return static_cast<double>(*bytes);
}

CLI::Option& OptionTable::text(const std::string& name, std::string& member, const char* unit,
                               const std::string& help) {
  return *command_.add_option(name, member, member.empty() ? help : withDefault(help, member))
              ->type_name(unit);
}

CLI::Option& OptionTable::texts(const std::string& name, std::vector<std::string>& member, const char* unit,
                                const std::string& help) {
  return *command_.add_option(name, member, help)->allow_extra_args(false)->type_name(unit);
}

CLI::Option& OptionTable::number(const std::string& name, double& member, const NumberRange& range,
                                 const std::string& help) {
  CLI::Validator check("");
  check.operation([range](std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && range.holds(value)) return "";
    return "'" + text + "' does not fit; write a number " + range.describe();
  });
  std::ostringstream shown;
  shown << member;
  return *command_.add_option(name, member, withDefault(help, shown.str()))->check(check)->type_name("X");
}

CLI::Option& OptionTable::flag(const std::string& name, bool& member, const std::string& help) {
  return *command_.add_flag(name, member, help);
}

CLI::Option& OptionTable::later(const std::string& name, const char* unit, const std::string& help,
                                std::function<void(const std::string&)> read) {
  CLI::Option* option = command_.add_option(name, help)->type_name(unit)->expected(1);
  readers_.emplace_back(option, std::move(read));
  return *option;
}

CLI::Option& OptionTable::duration(const std::string& name, Duration& member, const std::string& help,
                                   DurationRange range) {
  const std::string unit = range.word != nullptr ? std::string("DURATION|") + range.word : "DURATION";
  return later(name, unit.c_str(), withDefault(help, formatDuration(member)),
               [name = shownName(name), range, &member](const std::string& text) {
                 member = requireDuration(name, text, range);
               });
}

CLI::Option& OptionTable::size(const std::string& name, uint64_t& member, const std::string& help) {
  return optionalSize(name, member, withDefault(help, formatSize(member)));
}

CLI::Option& OptionTable::optionalSize(const std::string& name, uint64_t& member, const std::string& help) {
  return later(name, "SIZE", help, [name = shownName(name), &member](const std::string& text) {
    const auto bytes = parseSize(text);
    if (!bytes) throw badInput(name + ": " + bytes.error().message);
    member = *bytes;
  });
}

CLI::Option& OptionTable::bandwidth(const std::string& name, double& member, const std::string& help) {
  return later(name, "SIZE", help, [name = shownName(name), &member](const std::string& text) {
    member = requireBandwidth(name, text);
  });
}

void OptionTable::read() {
  for (const auto& [option, read] : readers_) {
    if (option->count() > 0) read(option->results().back());
  }
}

}  // namespace tarcil
