#include "core/model/task_secret.h"

#include "core/base/names.h"

namespace tarcil {

SecretReference secretReference(std::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return {{}, std::string(text)};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::string whyNotSecret(std::string_view text) {
  const SecretReference reference = secretReference(text);
  const bool hasOwner = text.find('/') != std::string_view::npos;
  const bool isNamed = isPlainName(reference.name, kMaxNameCharacters) &&
                       (!hasOwner || isPlainName(reference.owner, kMaxNameCharacters));
  if (isNamed) return "";
  return "names no secret; write NAME for one of your own, OWNER/NAME for another user's";
}

}  // namespace tarcil
