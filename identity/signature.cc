#include "identity/signature.h"

#include <openssl/evp.h>

#include "core/base/crypto.h"

namespace tarcil {
namespace {

constexpr size_t kSignatureBytes = 64;

struct ReleaseDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Digest = std::unique_ptr<EVP_MD_CTX, ReleaseDigest>;

Digest newDigest() {
  Digest context(EVP_MD_CTX_new());
  requireCrypto(context != nullptr);
  return context;
}

}  // namespace

struct SigningKey::Pair {
  explicit Pair(EVP_PKEY* itsKey) : key(itsKey) {}
  ~Pair() { EVP_PKEY_free(key); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  EVP_PKEY* const key;  // of which a public one may be the whole
};

SigningKey::SigningKey() : pair_(std::make_unique<Pair>(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))) {
  size_t size = public_.size();
  requireCrypto(pair_->key != nullptr &&
                EVP_PKEY_get_raw_public_key(pair_->key, public_.data(), &size) == 1 &&
                size == public_.size());
}

SigningKey::~SigningKey() = default;

std::string SigningKey::sign(std::string_view text) const {
  const Digest context = newDigest();
  std::string signature(kSignatureBytes, '\0');
  size_t size = signature.size();
  requireCrypto(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pair_->key) == 1 &&
                EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                               octets(text), text.size()) == 1);
  return signature;
}

bool isSignatureOf(std::string_view text, const PublicKey& key, std::string_view signature) {
  const SigningKey::Pair verifying(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
  if (verifying.key == nullptr) return false;  // 32 bytes that are no key
  const Digest context = newDigest();
  requireCrypto(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, verifying.key) == 1);
  return EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(text), text.size()) == 1;
}

}  // namespace tarcil
