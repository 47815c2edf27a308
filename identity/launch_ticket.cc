#include "identity/launch_ticket.h"

#include <capnp/message.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstdlib>

#include "schema/convert.h"

namespace tarcil {
namespace {

constexpr std::string_view kPurpose = "tarcil launch ticket 1";
constexpr size_t kTicketBytes = 32;

// Without randomness or memory nothing can be signed.
void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

TicketKey makeTicketKey() {
  TicketKey key;
  require(RAND_bytes(key.data(), static_cast<int>(key.size())) == 1);
  return key;
}

std::string ticketFor(const LaunchSpec& launch, const TicketKey& key) {
  LaunchSpec signedPart = launch;
  signedPart.caused = {};
  signedPart.tolerated = {};
  signedPart.measures = false;
  signedPart.earlier = 0;
  signedPart.gang.reset();
  capnp::MallocMessageBuilder message;
  write(signedPart, message.initRoot<wire::LaunchSpec>());
  // The same bytes of the same launch, also where one end knows of fields that are not set.
  const auto words = capnp::canonicalize(message.getRoot<wire::LaunchSpec>().asReader());
  const auto bytes = words.asBytes();
  std::string text(kPurpose);
  text.append(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  std::string ticket(kTicketBytes, '\0');
  unsigned int written = 0;
  require(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(text.data()), text.size(),
               reinterpret_cast<unsigned char*>(ticket.data()), &written) != nullptr &&
          written == kTicketBytes);
  return ticket;
}

bool isTicketFor(const LaunchSpec& launch, const TicketKey& key, std::string_view ticket) {
  const std::string wanted = ticketFor(launch, key);
  return ticket.size() == wanted.size() && CRYPTO_memcmp(ticket.data(), wanted.data(), wanted.size()) == 0;
}

}  // namespace tarcil
