// What a job says of the secrets that its tasks get, and a value as it is given to a task (docs/secrets.md).
#pragma once

#include <string>
#include <string_view>

#include "core/base/secret_bytes.h"

namespace tarcil {

inline constexpr size_t kMaxSecretBytes = 64u << 10;  // of a value
inline constexpr size_t kMaxSecretsOfJob = 32;

// Which secret a job means: NAME is one of its user's own, OWNER/NAME another user's.
struct SecretReference {
  std::string owner;  // empty: the user who submits
  std::string name;   // of the file that tasks find it in, too

  bool operator==(const SecretReference&) const = default;
};

// Of any text: what stands behind its last slash is the name.
SecretReference secretReference(std::string_view text);

// Why the text names no secret, after the text; empty where it does.
std::string whyNotSecret(std::string_view text);

struct TaskSecret {
  std::string name;  // of the file
  SecretBytes value;

  bool operator==(const TaskSecret&) const = default;
};

}  // namespace tarcil
