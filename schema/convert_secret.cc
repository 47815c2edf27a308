#include "schema/convert_secret.h"

#include <algorithm>

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

void write(const SecretGrant& value, wire::SecretGrant::Builder to) {
  to.setUser(text(value.user));
  to.setApplication(text(value.application));
}

SecretGrant read(wire::SecretGrant::Reader from) {
  return {text(from.getUser()), text(from.getApplication())};
}

void write(const SecretRecord& value, wire::Secret::Builder to) {
  to.setOwner(text(value.owner));
  to.setName(text(value.name));
  auto grants = to.initGrants(static_cast<uint32_t>(value.grants.size()));
  for (uint32_t i = 0; i < grants.size(); ++i) write(value.grants[i], grants[i]);
  to.setKey(text(value.value.key));
  if (!value.value.bytes.empty()) {
    to.setNonce(kj::arrayPtr(value.value.nonce.data(), value.value.nonce.size()));
    to.setSealed(data(value.value.bytes));
  }
  to.setVersion(value.version);
  to.setChanged(toWire(value.changed));
}

SecretRecord read(wire::Secret::Reader from) {
  SecretRecord value{.owner = text(from.getOwner()), .name = text(from.getName())};
  for (auto grant : elements(from.getGrants())) value.grants.push_back(read(grant));
  value.value.key = text(from.getKey());
  const auto nonce = from.getNonce();
  KJ_REQUIRE(nonce.size() == value.value.nonce.size() || nonce.size() == 0, "a nonce of another size",
             nonce.size());
  std::ranges::copy(nonce, value.value.nonce.begin());
  const auto sealed = from.getSealed().asChars();
  value.value.bytes.assign(sealed.begin(), sealed.size());
  value.version = from.getVersion();
  value.changed = wallTime(from.getChanged());
  return value;
}

void write(const TaskSecret& value, wire::TaskSecret::Builder to) {
  to.setName(text(value.name));
  to.setValue(kj::arrayPtr(value.value.bytes().data(), value.value.size()));
}

TaskSecret read(wire::TaskSecret::Reader from) {
  const auto value = from.getValue();
  KJ_REQUIRE(value.size() <= kMaxSecretBytes, "a secret is too large", value.size());
  return {text(from.getName()), SecretBytes(std::span<const uint8_t>(value.begin(), value.size()))};
}

// Messages lie in memory of the process, whoever gives it to them.
void overwrite(capnp::Data::Reader value) {
  overwrite(std::span<uint8_t>(const_cast<uint8_t*>(value.begin()), value.size()));
}

}  // namespace tarcil
