#include "deploy/roles/master_keys.h"

#include <filesystem>

#include "deploy/roles/secret_keys.h"
#include "rpc/identity_folder.h"
#include "rpc/private_file.h"
#include "rpc/token.h"

namespace tarcil {
namespace {

std::string masterFolder(const std::string& data) {
  return data + "/master";
}

}  // namespace

Result<MasterKeys> readMasterKeys(const Authority& authority, const std::string& tokens,
                                  const std::string& secrets) {
  auto known = readPrivateFile(tokens);
  if (!known) return known.error();
  auto sealing = readSecretKeysFile(secrets);
  if (!sealing) return sealing.error();
  return MasterKeys{authority.key, std::move(*known), std::move(*sealing)};
}

Status checkNoMaster(const std::string& data) {
  std::error_code ignored;
  if (!std::filesystem::exists(masterFolder(data), ignored)) return {};
  return invalid(masterFolder(data) +
                 " is there already: the folder is a master's, or was to be one's; give another one, or "
                 "remove that to give it up");
}

Status writeMasterKeys(const std::string& data, const std::string& authority, const MasterKeys& keys) {
  if (Status written = writeAuthority(data, {authority, keys.authority}); !written) return written;
  if (keys.secrets.size() > 0) {
    if (Status written = writeSecretKeysFile(data, keys.secrets); !written) return written;
  }
  const std::string file = masterFolder(data) + "/tokens";
  const auto folder = lockFolder(masterFolder(data));
  if (!folder) return folder.error();
  if (Status written = replacePrivateFile(file, keys.tokens, *folder); !written) return written;
  const auto tokens = TokenTable::read(file);
  if (!tokens) return tokens.error();
  const std::string* const token = tokens->operatorToken();
  if (token == nullptr) return {};
  const auto own = lockFolder(data + "/tokens");
  if (!own) return own.error();
  return writeTokenFile(data + "/tokens/operate.token", *token);
}

void removeMasterKeys(const std::string& data) {
  std::error_code ignored;
  std::filesystem::remove_all(masterFolder(data), ignored);
}

}  // namespace tarcil
