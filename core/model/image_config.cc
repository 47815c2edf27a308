#include "core/model/image_config.h"

#include <algorithm>
#include <array>

#include "core/model/job_check.h"

namespace tarcil {
namespace {

// What the first letter of a field says of the rest.
constexpr char kWord = 'c', kVariable = 'e', kFolder = 'w';

constexpr std::array<std::string_view, 5> kOfTheUser = {"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR"};

Error garbled() {
  return invalid("is garbled: remove the image's folder, and it is fetched again");
}

}  // namespace

bool takesFromImage(std::string_view variable) {
  return std::ranges::find(kOfTheUser, variable) == kOfTheUser.end() && !variable.starts_with("TARCIL_");
}

std::string encodeImageConfig(const ImageConfig& config) {
  std::string bytes;
  const auto add = [&bytes](char kind, const std::string& text) {
    bytes += kind;
    bytes.append(text).push_back('\0');
  };
  for (const std::string& word : config.command) add(kWord, word);
  for (const auto& [name, value] : config.env) add(kVariable, std::string(name).append("=").append(value));
  if (!config.workdir.empty()) add(kFolder, config.workdir);
  return bytes;
}

Result<ImageConfig> decodeImageConfig(std::string_view bytes) {
  ImageConfig config;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\0');
    if (end == 0 || end == std::string_view::npos) return garbled();
    const std::string text(bytes.substr(1, end - 1));
    const char kind = bytes.front();
    bytes.remove_prefix(end + 1);
    if (kind == kWord) {
      config.command.push_back(text);
    } else if (const size_t equals = text.find('='); kind == kVariable && equals != std::string::npos) {
      config.env[text.substr(0, equals)] = text.substr(equals + 1);
    } else if (kind == kFolder && text.starts_with('/')) {
      config.workdir = text;
    } else {
      return garbled();
    }
  }
  return config;
}

Status addImageConfig(const ImageConfig& config, bool keepsPrivate, TaskSpec& task) {
  if (task.command.empty()) task.command = config.command;
  if (task.command.empty() || task.command.front().empty()) {
    return invalid("command: neither the job nor its image " + task.container.image +
                   " names a program; write one, for example command: [sleep, 5]");
  }
  for (const auto& [name, value] : config.env) {
    if (takesFromImage(name)) task.env.emplace(name, value);
  }
  if (task.workdir.empty() && !keepsPrivate && config.workdir != "/") task.workdir = config.workdir;
  if (const std::string problem = whyTooLong(task); !problem.empty())
    return invalid("command: with those of its image " + task.container.image + ", " + problem);
  return {};
}

}  // namespace tarcil
