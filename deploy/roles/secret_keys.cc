#include "deploy/roles/secret_keys.h"

#include <cstdlib>
#include <filesystem>
#include <span>
#include <system_error>

#include "rpc/private_file.h"

namespace tarcil {
namespace {

constexpr const char* kCredential = "tarcil-secrets-key";

bool exists(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

std::string credential() {
  const char* const folder = std::getenv("CREDENTIALS_DIRECTORY");
  return folder == nullptr ? "" : std::string(folder) + "/" + kCredential;
}

std::string ownFile(const std::string& data) {
  return data + "/master/secrets.key";
}

std::span<uint8_t> bytesOf(std::string& text) {
  return {reinterpret_cast<uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::string secretKeysFile(const std::string& given, const std::string& data) {
  if (!given.empty()) return given;
  if (std::string file = credential(); !file.empty() && exists(file)) return file;
  return exists(ownFile(data)) ? ownFile(data) : "";
}

Result<SecretBytes> readSecretKeysFile(const std::string& file) {
  if (file.empty()) return SecretBytes();
  // systemd guards the folder, and has others' bits stand for its list of who may read.
  auto text = file == credential() ? readTrustedFile(file) : readPrivateFile(file);
  if (!text) return text.error();
  SecretBytes bytes{std::string_view(*text)};
  overwrite(bytesOf(*text));
  return bytes;
}

Result<SecretKeys> readSecretKeys(const std::string& file) {
  if (file.empty()) return SecretKeys();
  const auto text = readSecretKeysFile(file);
  if (!text) return text.error();
  auto keys = SecretKeys::parse(text->text());
  if (!keys) return invalid(file + ":" + keys.error().message);
  return keys;
}

Status makeSecretKeys(const std::string& data) {
  if (exists(ownFile(data))) return {};
  return writeSecretKeysFile(data, SecretKeys::newFile());
}

Status writeSecretKeysFile(const std::string& data, const SecretBytes& text) {
  const auto folder = lockFolder(data + "/master");
  if (!folder) return folder.error();
  // Whole or not at all: what is sealed with a key is lost with it.
  std::string bytes(text.text());
  Status written = replacePrivateFile(ownFile(data), bytes, *folder);
  overwrite(bytesOf(bytes));
  return written;
}

}  // namespace tarcil
