#include "identity/certificates.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>

#include "core/base/crypto.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

template <auto release>
struct Release {
  template <typename T>
  void operator()(T* owned) const {
    release(owned);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Release<X509_free>>;
using Request = std::unique_ptr<X509_REQ, Release<X509_REQ_free>>;
using Memory = std::unique_ptr<BIO, Release<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Release<X509_EXTENSION_free>>;
using Trusted = std::unique_ptr<X509_STORE, Release<X509_STORE_free>>;
void releaseChain(STACK_OF(X509) * chain) {
  sk_X509_pop_free(chain, X509_free);
}
using Chain = std::unique_ptr<STACK_OF(X509), Release<releaseChain>>;
using Checking = std::unique_ptr<X509_STORE_CTX, Release<X509_STORE_CTX_free>>;

constexpr const char* kCurve = "P-256";
constexpr long kVersion3 = 2;

// Takes the errors that OpenSSL has collected, so that the next call finds none.
Error opensslError(const std::string& what) {
  const char* reason = nullptr;
  while (const unsigned long code = ERR_get_error()) reason = ERR_reason_error_string(code);
  return invalid(what + (reason == nullptr ? "" : std::string(": ") + reason));
}

Memory memoryOf(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string textIn(const Memory& memory) {
  char* begin = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &begin);
  return {begin, static_cast<size_t>(size)};
}

// Asked by OpenSSL for a passphrase, it has none: without this the terminal would be asked.
int noPassphrase(char*, int, int, void*) {
  return -1;
}

Key keyIn(const std::string& text) {
  return Key(PEM_read_bio_PrivateKey(memoryOf(text).get(), nullptr, noPassphrase, nullptr));
}
Certificate certificateIn(const std::string& text) {
  return Certificate(PEM_read_bio_X509(memoryOf(text).get(), nullptr, noPassphrase, nullptr));
}
Request requestIn(const std::string& text) {
  return Request(PEM_read_bio_X509_REQ(memoryOf(text).get(), nullptr, noPassphrase, nullptr));
}

Result<Key> keyOf(const std::string& text) {
  if (Key key = keyIn(text)) return key;
  return opensslError("this is no private key in PEM");
}
Result<Certificate> certificateOf(const std::string& text) {
  if (Certificate certificate = certificateIn(text)) return certificate;
  return opensslError("this is no certificate in PEM");
}

bool isOfCurve(const EVP_PKEY* key) {
  char curve[32] = {};
  size_t size = 0;
  return EVP_PKEY_get_group_name(key, curve, sizeof curve, &size) == 1 &&
         (std::string_view(curve) == "prime256v1" || std::string_view(curve) == kCurve);
}

// Of any length: names of servers may be longer than what X.509 says of common names, which nobody who reads
// these holds it to.
bool setCommonName(X509_NAME* to, const std::string& text) {
  return X509_NAME_add_entry_by_txt(to, "CN", V_ASN1_UTF8STRING, octets(text), static_cast<int>(text.size()),
                                    -1, 0) == 1;
}

std::string commonNameOf(X509* certificate) {
  X509_NAME* name = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return "";
  const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

bool setTimes(X509* certificate, Validity validity) {
  const auto seconds = [](WallTime time) { return std::chrono::system_clock::to_time_t(time); };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(validity.from)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(validity.until)) != nullptr;
}

bool setSerial(X509* certificate, uint64_t serial) {
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1;
}

bool addExtension(X509* to, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(to, extension.get(), -1) == 1;
}

Result<std::string> textOf(X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(memory.get(), certificate) != 1)
    return opensslError("a certificate cannot be written");
  return textIn(memory);
}

WallTime timeOf(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return WallTime(std::chrono::seconds(::timegm(&parts)));
}

Validity validityOf(X509* certificate) {
  return {timeOf(X509_get0_notBefore(certificate)), timeOf(X509_get0_notAfter(certificate))};
}

// What is wrong with the time of a certificate; empty where nothing is.
std::string problemOfTime(const std::string& whose, Validity validity, WallTime now) {
  const std::string clock = ", and this machine's clock says " + formatTime(now);
  if (now < validity.from) {
    return whose + " is not valid before " + formatTime(validity.from) + clock + ": is the clock right?";
  }
  if (now < validity.until) return "";
  return whose + " expired at " + formatTime(validity.until) + clock +
         "; where the clock is right, join anew with a word of `tarcil join-token`";
}

// Those behind the first one of a text: authorities between it and the cluster's.
Chain chainIn(const std::string& text) {
  Chain chain(sk_X509_new_null());
  const Memory memory = memoryOf(text);
  const Certificate first(PEM_read_bio_X509(memory.get(), nullptr, noPassphrase, nullptr));
  while (X509* next = PEM_read_bio_X509(memory.get(), nullptr, noPassphrase, nullptr))
    sk_X509_push(chain.get(), next);
  ERR_clear_error();
  return chain;
}

// But for times, which are told of better above.
bool isSignedBy(X509* authority, X509* certificate, STACK_OF(X509) * between) {
  const Trusted trusted(X509_STORE_new());
  const Checking checking(X509_STORE_CTX_new());
  X509_STORE_set_flags(trusted.get(), X509_V_FLAG_NO_CHECK_TIME);
  const bool isSigned = X509_STORE_add_cert(trusted.get(), authority) == 1 &&
                        X509_STORE_CTX_init(checking.get(), trusted.get(), certificate, between) == 1 &&
                        X509_verify_cert(checking.get()) == 1;
  ERR_clear_error();
  return isSigned;
}

}  // namespace

Sha256 digestOf(std::string_view bytes) {
  Sha256 digest;
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return digest;
}

Result<std::string> makeKey() {
  const Key key(EVP_EC_gen(kCurve));
  const Memory memory(BIO_new(BIO_s_mem()));
  if (!key || PEM_write_bio_PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return opensslError("a key cannot be made");
  }
  return textIn(memory);
}

Result<Authority> makeAuthority(const std::string& cluster, Validity validity) {
  auto keyText = makeKey();
  if (!keyText) return keyText.error();
  const Key key = keyIn(*keyText);
  const Certificate made(X509_new());
  X509* const it = made.get();
  const bool isMade =
      X509_set_version(it, kVersion3) == 1 && setSerial(it, 1) && setTimes(it, validity) &&
      setCommonName(X509_get_subject_name(it), "tarcil cluster " + cluster) &&
      X509_set_issuer_name(it, X509_get_subject_name(it)) == 1 && X509_set_pubkey(it, key.get()) == 1 &&
      addExtension(it, it, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      addExtension(it, it, NID_key_usage, "critical,keyCertSign") &&
      addExtension(it, it, NID_subject_key_identifier, "hash") && X509_sign(it, key.get(), EVP_sha256()) != 0;
  if (!isMade) return opensslError("an authority cannot be made");
  auto text = textOf(it);
  if (!text) return text.error();
  return Authority{std::move(*text), std::move(*keyText)};
}

Result<std::string> makeRequest(const std::string& keyText) {
  const auto key = keyOf(keyText);
  if (!key) return key.error();
  const Request request(X509_REQ_new());
  const Memory memory(BIO_new(BIO_s_mem()));
  const bool isMade = X509_REQ_set_version(request.get(), 0) == 1 &&
                      X509_REQ_set_pubkey(request.get(), key->get()) == 1 &&
                      X509_REQ_sign(request.get(), key->get(), EVP_sha256()) != 0 &&
                      PEM_write_bio_X509_REQ(memory.get(), request.get()) == 1;
  if (!isMade) return opensslError("a request for a certificate cannot be made");
  return textIn(memory);
}

std::string hostNameOf(MemberRole role) {
  return std::string(name(role)) + ".tarcil.internal";
}

Status checkRequest(const std::string& text) {
  const Request request = requestIn(text);
  EVP_PKEY* const key = request ? X509_REQ_get0_pubkey(request.get()) : nullptr;
  if (key == nullptr) return opensslError("this is no request for a certificate in PEM");
  if (!isOfCurve(key)) return invalid("the request is for a key of another kind; make an EC key on P-256");
  if (X509_REQ_verify(request.get(), key) != 1)
    return opensslError("whoever made the request does not have its key");
  return {};
}

Result<std::string> issue(const Authority& authority, const std::string& requestText,
                          const Identity& identity, Validity validity) {
  const auto signer = certificateOf(authority.certificate);
  if (!signer) return signer.error();
  const auto key = keyOf(authority.key);
  if (!key) return key.error();
  if (Status good = checkRequest(requestText); !good) return good.error();
  const Request request = requestIn(requestText);
  const Certificate made(X509_new());
  X509* const it = made.get();
  const bool isMade =
      X509_set_version(it, kVersion3) == 1 && setSerial(it, identity.serial) && setTimes(it, validity) &&
      setCommonName(X509_get_subject_name(it), commonName(identity)) &&
      X509_set_issuer_name(it, X509_get_subject_name(signer->get())) == 1 &&
      X509_set_pubkey(it, X509_REQ_get0_pubkey(request.get())) == 1 &&
      addExtension(it, signer->get(), NID_basic_constraints, "critical,CA:FALSE") &&
      addExtension(it, signer->get(), NID_key_usage, "critical,digitalSignature") &&
      addExtension(it, signer->get(), NID_ext_key_usage, "serverAuth,clientAuth") &&
      addExtension(it, signer->get(), NID_subject_alt_name, "DNS:" + hostNameOf(identity.role)) &&
      X509_sign(it, key->get(), EVP_sha256()) != 0;
  if (!isMade) return opensslError("a certificate cannot be made");
  return textOf(it);
}

Result<Sha256> fingerprintOf(const std::string& text) {
  const auto certificate = certificateOf(text);
  if (!certificate) return certificate.error();
  Sha256 digest;
  unsigned size = 0;
  if (X509_digest(certificate->get(), EVP_sha256(), digest.data(), &size) != 1)
    return opensslError("no fingerprint");
  return digest;
}

Result<CertificateFacts> readCertificate(const std::string& text) {
  const auto certificate = certificateOf(text);
  if (!certificate) return certificate.error();
  auto identity = parseIdentity(commonNameOf(certificate->get()));
  if (!identity) {
    return invalid("the certificate's common name is not ROLE/NAME/SERIAL: it is none of a tarcil role");
  }
  return CertificateFacts{std::move(*identity), validityOf(certificate->get())};
}

WallTime endOf(void* certificate) {
  return timeOf(X509_get0_notAfter(static_cast<X509*>(certificate)));
}

Result<Validity> readValidity(const std::string& text) {
  const auto certificate = certificateOf(text);
  if (!certificate) return certificate.error();
  return validityOf(certificate->get());
}

Status checkCertificate(const std::string& text, const std::string& keyText, const std::string& authorityText,
                        WallTime now) {
  const auto certificate = certificateOf(text);
  if (!certificate) return certificate.error();
  const auto key = keyOf(keyText);
  if (!key) return key.error();
  const auto authority = certificateOf(authorityText);
  if (!authority) return authority.error();
  const bool isOfKey = X509_check_private_key(certificate->get(), key->get()) == 1;
  ERR_clear_error();
  if (!isOfKey)
    return invalid("the certificate is of another key; join anew with a word of `tarcil join-token`");
  if (!isSignedBy(authority->get(), certificate->get(), chainIn(text).get())) {
    return invalid(
        "the certificate is not signed by this authority; join anew with a word of `tarcil join-token`");
  }
  std::string problem = problemOfTime("the authority", validityOf(authority->get()), now);
  if (problem.empty()) problem = problemOfTime("the certificate", validityOf(certificate->get()), now);
  if (problem.empty()) return {};
  return invalid(std::move(problem));
}

}  // namespace tarcil
