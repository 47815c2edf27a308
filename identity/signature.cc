#include "identity/signature.h"

#include <openssl/evp.h>

#include "core/base/crypto.h"

namespace tarcil {
namespace {

constexpr size_t kSignatureBytes = 64;

struct Release {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Release>;
using Context = std::unique_ptr<EVP_MD_CTX, Release>;

Context newContext() {
  Context context(EVP_MD_CTX_new());
  requireCrypto(context != nullptr);
  return context;
}

}  // namespace

struct SigningKey::Pair {
  Key key;
};

SigningKey::SigningKey()
    : pair_(std::make_unique<Pair>(Pair{Key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))})) {
  size_t size = public_.size();
  requireCrypto(pair_->key != nullptr &&
                EVP_PKEY_get_raw_public_key(pair_->key.get(), public_.data(), &size) == 1 &&
                size == public_.size());
}

SigningKey::~SigningKey() = default;

std::string SigningKey::sign(std::string_view text) const {
  const Context context = newContext();
  std::string signature(kSignatureBytes, '\0');
  size_t size = signature.size();
  requireCrypto(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pair_->key.get()) == 1 &&
                EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                               octets(text), text.size()) == 1);
  return signature;
}

bool isSignatureOf(std::string_view text, const PublicKey& key, std::string_view signature) {
  const Key verifying(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
  if (verifying == nullptr) return false;  // 32 bytes that are no key
  const Context context = newContext();
  requireCrypto(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, verifying.get()) == 1);
  return EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(text), text.size()) == 1;
}

}  // namespace tarcil
