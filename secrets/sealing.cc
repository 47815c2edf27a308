#include "secrets/sealing.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/base/crypto.h"
#include "core/base/hex.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

struct ReleaseContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, ReleaseContext>;

constexpr size_t kIdBytes = 8;
constexpr size_t kBase64Characters = 44;  // of a key; the last is padding
constexpr std::string_view kPurpose = "tarcil secret";

std::string idOf(const SecretBytes& key) {
  constexpr std::string_view kOfId = "tarcil secrets key";
  SecretBytes text(kOfId.size() + key.size());
  std::copy(kOfId.begin(), kOfId.end(), text.bytes().begin());
  std::ranges::copy(key.bytes(), text.bytes().begin() + kOfId.size());
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest;
  SHA256(text.bytes().data(), text.size(), digest.data());
  return hexOf(std::span(digest).first(kIdBytes));
}

std::optional<SecretBytes> keyIn(std::string_view line) {
  SecretBytes key(SecretKeys::kKeyBytes);
  if (readHex(line, key.bytes())) return key;
  if (line.size() != kBase64Characters || line[kBase64Characters - 2] == '=' || line.back() != '=')
    return std::nullopt;
  // It counts the padding as a byte of zeros.
  SecretBytes decoded(SecretKeys::kKeyBytes + 1);
  const int bytes = EVP_DecodeBlock(decoded.bytes().data(), octets(line), static_cast<int>(line.size()));
  if (bytes != static_cast<int>(decoded.size())) return std::nullopt;
  return SecretBytes(std::as_const(decoded).bytes().first(SecretKeys::kKeyBytes));
}

// Names and owners have no zero bytes.
std::string boundTo(const std::string& owner, const std::string& name) {
  return std::string(kPurpose) + '\0' + owner + '\0' + name;
}

}  // namespace

Result<SecretKeys> SecretKeys::parse(std::string_view text) {
  SecretKeys keys;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    auto key = keyIn(line);
    if (!key)
      return invalid(std::to_string(number) +
                     ": is no key; write 32 bytes as 64 hexadecimal digits, or as base64");
    if (keys.keys_.size() == kMost)
      return invalid(std::to_string(number) +
                     ": is a third key; write at most two, the one that seals first");
    std::string id = idOf(*key);
    keys.keys_.push_back({std::move(id), std::move(*key)});
  }
  if (keys.empty()) return invalid("1: there is no key; write 32 random bytes as 64 hexadecimal digits");
  return keys;
}

const SecretKeys::Key* SecretKeys::find(const std::string& id) const {
  const auto found = std::ranges::find(keys_, id, &Key::id);
  return found == keys_.end() ? nullptr : &*found;
}

SecretBytes SecretKeys::newFile() {
  SecretBytes key(kKeyBytes);
  requireCrypto(RAND_bytes(key.bytes().data(), kKeyBytes) == 1);
  SecretBytes file(2 * kKeyBytes + 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < kKeyBytes; ++i) {
    file.bytes()[2 * i] = static_cast<uint8_t>(kDigits[key.bytes()[i] >> 4]);
    file.bytes()[2 * i + 1] = static_cast<uint8_t>(kDigits[key.bytes()[i] & 15]);
  }
  file.bytes().back() = '\n';
  return file;
}

SealedValue SecretKeys::seal(const std::string& owner, const std::string& name,
                             const SecretBytes& value) const {
  SealedValue sealed;
  sealed.key = current();
  requireCrypto(RAND_bytes(sealed.nonce.data(), SealedValue::kNonceBytes) == 1);
  sealed.bytes.resize(value.size() + SealedValue::kTagBytes);
  auto* const to = reinterpret_cast<unsigned char*>(sealed.bytes.data());
  const std::string bound = boundTo(owner, name);
  const Context context(EVP_CIPHER_CTX_new());
  int written = 0, none = 0;
  requireCrypto(
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, keys_.front().bytes.bytes().data(),
                         sealed.nonce.data()) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &none, octets(bound), static_cast<int>(bound.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), to, &written, value.bytes().data(), static_cast<int>(value.size())) ==
          1 &&
      EVP_EncryptFinal_ex(context.get(), to + written, &none) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, SealedValue::kTagBytes, to + value.size()) ==
          1);
  return sealed;
}

Result<SecretBytes> SecretKeys::open(const SecretRecord& secret) const {
  const std::string name = shown(fullName(secret.owner, secret.name));
  const SealedValue& sealed = secret.value;
  if (empty()) return Error{ErrorCode::kConflict, "secret " + name + ": " + kNoSecretsKey};
  const Key* key = find(sealed.key);
  if (key == nullptr) {
    return Error{ErrorCode::kConflict, "secret " + name + " is sealed with the key " + sealed.key +
                                           ", which this master does not have: its --secrets-key has " +
                                           current() + "; all masters need the same file"};
  }
  Error changed{ErrorCode::kInternal,
                "secret " + name + " was changed in the store, or is another one's: put it anew"};
  if (sealed.bytes.size() < SealedValue::kTagBytes) return changed;
  SecretBytes value(sealed.bytes.size() - SealedValue::kTagBytes);
  std::string tag = sealed.bytes.substr(value.size());
  const std::string bound = boundTo(secret.owner, secret.name);
  const Context context(EVP_CIPHER_CTX_new());
  requireCrypto(context != nullptr);
  int written = 0, none = 0;
  const bool isWhole =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key->bytes.bytes().data(),
                         sealed.nonce.data()) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &none, octets(bound), static_cast<int>(bound.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), value.bytes().data(), &written, octets(sealed.bytes),
                        static_cast<int>(value.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, SealedValue::kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), value.bytes().data() + written, &none) == 1;
  if (!isWhole) return changed;
  return value;
}

}  // namespace tarcil
