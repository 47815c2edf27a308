#include "identity/logic/token_text.h"

#include "core/base/hex.h"

namespace tarcil {
namespace {

constexpr char kDot = '.';
constexpr size_t kIdDigits = 16;

}  // namespace

std::string tokenText(uint64_t id, const TokenSecret& secret) {
  return hexOf(id) + kDot + hexOf(secret);
}

std::optional<uint64_t> tokenIdOf(std::string_view token) {
  if (token.size() <= kIdDigits || token[kIdDigits] != kDot) return std::nullopt;
  if (!bytesInHex<std::tuple_size_v<TokenSecret>>(token.substr(kIdDigits + 1))) return std::nullopt;
  return numberInHex(token.substr(0, kIdDigits));
}

}  // namespace tarcil
