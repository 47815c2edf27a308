#include "audit/chain.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/hex.h"
#include "core/base/units.h"
#include "identity/certificates.h"

namespace tarcil::audit {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBeforePrevious = ",\"previous\":\"";
constexpr std::string_view kBeforeHash = "\",\"hash\":\"";
constexpr std::string_view kEnd = "\"}";
constexpr std::string_view kBeforeSequence = "{\"sequence\":";
constexpr size_t kHexOfHash = 2 * sizeof(Sha256);
constexpr size_t kSealBytes =
    kBeforePrevious.size() + kHexOfHash + kBeforeHash.size() + kHexOfHash + kEnd.size();

bool isPlain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

void appendText(std::string& to, std::string_view text) {
  if (std::ranges::all_of(text, isPlain) && text.size() <= kMaxText) {
    to += '"';
    to += text;
    to += '"';
  } else {
    // A character that is cut in two is written as one that cannot be read.
    to += Json(text.substr(0, kMaxText)).dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

void appendField(std::string& to, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  to += ",\"";
  to += name;
  to += "\":";
  appendText(to, text);
}

Sha256 hashOf(const Sha256& previous, std::string_view body) {
  std::string hashed(previous.begin(), previous.end());
  hashed += body;
  return digestOf(hashed);
}

// Of a field that is a text; empty where it is missing or none.
std::string textIn(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

void Chain::add(const Entry& entry, std::string& to) {
  const size_t begin = to.size();
  to += kBeforeSequence;
  to += std::to_string(last_.sequence + 1);
  if (term_ != 0) to += ",\"term\":" + std::to_string(term_);
  appendField(to, "time", formatTime(entry.time));
  appendField(to, "user", entry.by.user);
  appendField(to, "known_by", entry.by.knownBy);
  appendField(to, "agent", entry.by.agent);
  appendField(to, "from", entry.by.address);
  appendField(to, "action", entry.action);
  appendField(to, "object", entry.object);
  appendField(to, "outcome", entry.outcome);
  appendField(to, "detail", entry.detail);
  if (entry.count != 1) to += ",\"count\":" + std::to_string(entry.count);
  const Sha256 hash = hashOf(last_.hash, std::string_view(to).substr(begin));
  to += kBeforePrevious;
  to += hexOf(std::span(last_.hash));
  to += kBeforeHash;
  to += hexOf(std::span(hash));
  to += kEnd;
  to += '\n';
  last_ = {last_.sequence + 1, hash};
}

std::optional<Place> placeOf(std::string_view line) {
  if (line.size() <= kBeforeSequence.size() + kSealBytes || line.size() > kMaxLineBytes ||
      !line.starts_with(kBeforeSequence)) {
    return std::nullopt;
  }
  Place place;
  const char* const digits = line.data() + kBeforeSequence.size();
  const auto read = std::from_chars(digits, line.data() + line.size(), place.self.sequence);
  if (read.ec != std::errc() || *read.ptr != ',' || place.self.sequence == 0) return std::nullopt;
  const std::string_view body = line.substr(0, line.size() - kSealBytes);
  std::string_view seal = line.substr(body.size());
  const auto takes = [&seal](std::string_view text) {
    if (!seal.starts_with(text)) return false;
    seal.remove_prefix(text.size());
    return true;
  };
  const auto takesHash = [&seal](Sha256& to) {
    if (!readHex(seal.substr(0, kHexOfHash), to)) return false;
    seal.remove_prefix(kHexOfHash);
    return true;
  };
  const bool hasForm = takes(kBeforePrevious) && takesHash(place.previous) && takes(kBeforeHash) &&
                       takesHash(place.self.hash) && seal == kEnd;
  if (!hasForm || hashOf(place.previous, body) != place.self.hash) return std::nullopt;
  return place;
}

std::optional<Fields> fieldsOf(std::string_view line) {
  if (line.size() > kMaxLineBytes) return std::nullopt;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Fields fields;
  fields.time = textIn(json, "time");
  fields.entry.by = {textIn(json, "user"), textIn(json, "known_by"), textIn(json, "agent"),
                     textIn(json, "from")};
  fields.entry.action = textIn(json, "action");
  fields.entry.object = textIn(json, "object");
  fields.entry.outcome = textIn(json, "outcome");
  fields.entry.detail = textIn(json, "detail");
  const auto count = json.find("count");
  if (count != json.end() && count->is_number_unsigned()) fields.entry.count = count->get<uint64_t>();
  return fields;
}

bool passes(const Filter& filter, std::string_view line) {
  const auto fields = fieldsOf(line);
  if (!fields) return false;
  // Times of one form, in UTC, sort as texts do.
  if (filter.since != kNever && fields->time < formatTime(filter.since)) return false;
  if (filter.until != kNever && fields->time >= formatTime(filter.until)) return false;
  if (!filter.user.empty() && fields->entry.by.user != filter.user) return false;
  const std::string& action = fields->entry.action;
  return filter.action.empty() || action == filter.action || action.starts_with(filter.action + ".");
}

}  // namespace tarcil::audit
