// Where a master's keys for secrets are (docs/secrets.md).
#pragma once

#include <string>

#include "core/base/result.h"
#include "secrets/sealing.h"

namespace tarcil {

// Which file has them: the one that `given` names; else the credential tarcil-secrets-key of systemd; else
// the one that makeSecretKeys() makes; empty where none is there.
std::string secretKeysFile(const std::string& given, const std::string& data);

// What is in it, as it is, and as for readSecretKeys().
Result<SecretBytes> readSecretKeysFile(const std::string& file);

// No key where `file` is empty. Invalid where it cannot be read, is open to others, or holds no keys; the
// message names file and line.
Result<SecretKeys> readSecretKeys(const std::string& file);

// A file of one new key in the folder of a master; one that is there stays.
Status makeSecretKeys(const std::string& data);
// In the same place, all of it or nothing.
Status writeSecretKeysFile(const std::string& data, const SecretBytes& text);

}  // namespace tarcil
