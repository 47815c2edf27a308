// What an image says of how to run a program in it, and how a task takes that on.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/task.h"

namespace tarcil {

// Of an image's configuration all that counts. Its user, volumes, ports, stop signal and health check do not.
struct ImageConfig {
  std::vector<std::string> command;        // entry point and arguments
  std::map<std::string, std::string> env;  // without those that say who the user is, or that tarcil sets
  std::string workdir;                     // absolute; empty: none of its own

  bool operator==(const ImageConfig&) const = default;
};

// Whether a variable of an image reaches its tasks: HOME, USER, LOGNAME, SHELL and TMPDIR are those of the
// task's user and place, and what begins with TARCIL_ is tarcil's.
bool takesFromImage(std::string_view variable);

// As fields that end with a NUL, which is all that a monitor reads of an image. Requires: no NUL inside.
std::string encodeImageConfig(const ImageConfig& config);
// kInvalid: no such bytes.
Result<ImageConfig> decodeImageConfig(std::string_view bytes);

// What the job does not say is the image's: its program where the job has no command, variables that the job
// does not set, and its working directory where the job has none and `keepsPrivate` is false: where files are
// shipped or kept the private one stays. kInvalid: neither has a command, or both together are too long.
Status addImageConfig(const ImageConfig& config, bool keepsPrivate, TaskSpec& task);

}  // namespace tarcil
