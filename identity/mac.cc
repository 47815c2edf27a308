#include "identity/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "core/base/crypto.h"

namespace tarcil {
namespace {

constexpr size_t kMacBytes = 32;

}  // namespace

MacKey makeMacKey() {
  MacKey key;
  requireCrypto(RAND_bytes(key.data(), static_cast<int>(key.size())) == 1);
  return key;
}

std::string macOf(std::string_view text, const MacKey& key) {
  std::string mac(kMacBytes, '\0');
  unsigned int written = 0;
  requireCrypto(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(text), text.size(),
                     reinterpret_cast<unsigned char*>(mac.data()), &written) != nullptr &&
                written == kMacBytes);
  return mac;
}

bool isMacOf(std::string_view text, const MacKey& key, std::string_view mac) {
  const std::string wanted = macOf(text, key);
  return mac.size() == wanted.size() && CRYPTO_memcmp(mac.data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace tarcil
