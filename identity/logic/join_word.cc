#include "identity/logic/join_word.h"

#include <charconv>
#include <vector>

#include "core/base/hex.h"
#include "core/base/units.h"

namespace tarcil {
namespace {

constexpr char kBetween = ':';
constexpr size_t kParts = 6;

// FNV-1a: tells slips of the finger, not forgers.
uint64_t checkOf(std::string_view text) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const char each : text) sum = (sum ^ static_cast<uint8_t>(each)) * 0x100000001b3;
  return sum;
}

int64_t secondsOf(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

std::vector<std::string_view> partsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; (end = text.find(kBetween)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

Error noWord(const char* why) {
  return invalid(std::string("the word ") + why +
                 "; copy all of what `tarcil join-token` printed, in one piece");
}

}  // namespace

bool isSameSecret(const Sha256& a, const Sha256& b) {
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

std::string textOf(const JoinWord& word) {
  std::string text(name(word.role));
  for (const std::string& part :
       {word.name, std::to_string(secondsOf(word.until)), hexOf(word.authority), hexOf(word.secret)}) {
    text += kBetween + part;
  }
  return text + kBetween + hexOf(checkOf(text));
}

Result<JoinWord> parseJoinWord(std::string_view text) {
  const auto parts = partsOf(text);
  if (parts.size() != kParts) return noWord("is not whole");
  if (numberInHex(parts.back()) != checkOf(text.substr(0, text.rfind(kBetween))))
    return noWord("is mistyped, or not whole");
  const auto role = memberRoleNamed(parts[0]);
  int64_t seconds = 0;
  const auto [end, problem] = std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), seconds);
  const auto authority = bytesInHex<std::tuple_size_v<Sha256>>(parts[3]);
  const auto secret = bytesInHex<16>(parts[4]);
  constexpr int64_t kLatest = 1LL << 40;  // seconds, that microseconds can count
  if (!role || !checkMemberName("", *role, parts[1]) || problem != std::errc() ||
      end != parts[2].data() + parts[2].size() || seconds < 0 || seconds > kLatest || !authority || !secret) {
    return noWord("is none of this version");
  }
  const JoinWord word{*role, std::string(parts[1]), WallTime(std::chrono::seconds(seconds)), *authority,
                      *secret};
  if (textOf(word) != text) return noWord("is none of this version");
  return word;
}

Status checkTime(const JoinWord& word, WallTime now) {
  if (now < word.until) return {};
  return invalid("the word expired at " + formatTime(word.until) + ", and this machine's clock says " +
                 formatTime(now) +
                 "; make a new one with `tarcil join-token`, or set the clock if it is wrong");
}

}  // namespace tarcil
