#include "gateway/server/seal.h"

#include <kj/debug.h>
#include <kj/encoding.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "core/base/hex.h"
#include "rpc/token.h"

namespace tarcil::gateway {
namespace {

constexpr size_t kNonceBytes = 12, kTagBytes = 16;
constexpr size_t kMaxSealed = 4096;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

Context makeContext() {
  Context context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  KJ_ASSERT(context != nullptr);
  return context;
}

uint8_t* bytesOf(std::string& text) {
  return reinterpret_cast<uint8_t*>(text.data());
}
const uint8_t* bytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

void fillRandom(uint8_t* to, size_t size) {
  KJ_ASSERT(RAND_bytes(to, static_cast<int>(size)) == 1);
}

std::string inLetters(std::string_view bytes) {
  const auto text = kj::encodeBase64Url(kj::arrayPtr(bytesOf(bytes), bytes.size()));
  return {text.begin(), text.size()};
}

// The alphabet of base64url (RFC 4648, 5) in that of base64, which KJ reads.
std::optional<std::string> fromLetters(std::string_view text) {
  std::string usual(text);
  for (char& letter : usual) {
    if (letter == '-') {
      letter = '+';
    } else if (letter == '_') {
      letter = '/';
    } else if (letter == '+' || letter == '/') {
      return std::nullopt;
    }
  }
  usual.append((4 - usual.size() % 4) % 4, '=');
  const auto bytes = kj::decodeBase64(kj::StringPtr(usual.c_str(), usual.size()).asArray());
  if (bytes.hadErrors) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

}  // namespace

Seal::Key Seal::randomKey() {
  Key key{};
  fillRandom(key.data(), key.size());
  return key;
}

Result<Seal::Key> Seal::readKey(const std::string& path) {
  const auto text = readTokenFile(path);
  if (!text) return text.error();
  const auto key = bytesInHex<kKeyBytes>(*text);
  if (key) return *key;
  return invalid(path +
                 ": is no key; write 64 hexadecimal digits, a to f in lower case, for example with "
                 "`openssl rand -hex 32`");
}

std::string Seal::sealed(std::string_view text) const {
  std::string out(kNonceBytes + text.size() + kTagBytes, '\0');
  uint8_t* nonce = bytesOf(out);
  uint8_t* body = nonce + kNonceBytes;
  fillRandom(nonce, kNonceBytes);
  const Context context = makeContext();
  int written = 0;
  KJ_ASSERT(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), nonce) == 1);
  KJ_ASSERT(EVP_EncryptUpdate(context.get(), body, &written, bytesOf(text), static_cast<int>(text.size())) ==
            1);
  KJ_ASSERT(EVP_EncryptFinal_ex(context.get(), body + written, &written) == 1);
  KJ_ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, body + text.size()) == 1);
  return inLetters(out);
}

std::optional<std::string> Seal::opened(std::string_view sealed) const {
  if (sealed.size() > kMaxSealed) return std::nullopt;
  auto in = fromLetters(sealed);
  if (!in || in->size() < kNonceBytes + kTagBytes) return std::nullopt;
  uint8_t* nonce = bytesOf(*in);
  uint8_t* body = nonce + kNonceBytes;
  const size_t size = in->size() - kNonceBytes - kTagBytes;
  std::string text(size, '\0');
  const Context context = makeContext();
  int written = 0;
  const bool isOurs =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), nonce) == 1 &&
      EVP_DecryptUpdate(context.get(), bytesOf(text), &written, body, static_cast<int>(size)) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, body + size) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytesOf(text) + written, &written) == 1;
  if (!isOurs) return std::nullopt;
  return text;
}

std::string randomId() {
  std::string bytes(16, '\0');
  fillRandom(bytesOf(bytes), bytes.size());
  return inLetters(bytes);
}

}  // namespace tarcil::gateway
