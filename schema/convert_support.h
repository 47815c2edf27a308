// Helpers of convert_*.cc: texts, lists, maps and enumerations.
#pragma once

#include <capnp/any.h>
#include <capnp/message.h>
#include <kj/debug.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "schema/types.capnp.h"

namespace tarcil::convert {

inline kj::StringPtr text(const std::string& value) {
  return kj::StringPtr(value.data(), value.size());
}
inline std::string text(capnp::Text::Reader value) {
  return std::string(value.begin(), value.size());
}

inline kj::ArrayPtr<const kj::byte> data(const std::string& value) {
  return text(value).asBytes();
}
inline std::string data(capnp::Data::Reader value) {
  return std::string(value.asChars().begin(), value.size());
}

template <typename E>
E toWireEnum(auto value) {
  return static_cast<E>(static_cast<uint16_t>(value));
}

// The bytes of a message, the same of the same values, also where one end knows of fields that are not set.
template <typename Reader>
std::string canonical(Reader from) {
  const auto words = capnp::canonicalize(from);
  return std::string(words.asChars().begin(), words.asChars().size());
}

// A duration that a peer tells, in microseconds. What is out of its range would overflow where it is added to
// a time.
inline Duration readDuration(auto micros, const char* what) {
  KJ_REQUIRE(std::cmp_greater_equal(micros, 0) && std::cmp_less_equal(micros, kFarthest.count()),
             "a duration is out of range", what, micros);
  return Duration(micros);
}

// Requires the two enumerations to have the same order. `count` is the number of enumerators.
template <typename E>
E fromWireEnum(auto value, uint16_t count, const char* what) {
  KJ_REQUIRE(static_cast<uint16_t>(value) < count, "unknown enumerator: the peer is newer", what);
  return static_cast<E>(static_cast<uint16_t>(value));
}

inline void writeTexts(const std::vector<std::string>& values, capnp::List<capnp::Text>::Builder to) {
  for (uint32_t i = 0; i < values.size(); ++i) to.set(i, text(values[i]));
}

inline std::vector<std::string> readTexts(capnp::List<capnp::Text>::Reader from) {
  std::vector<std::string> values;
  values.reserve(from.size());
  for (auto value : from) values.push_back(text(value));
  return values;
}

// A list of structs, to be read. Such as take no bytes are refused: a message of a few words could have
// millions of them, each of which takes memory once read, and no writer makes such.
template <typename List>
List elements(List from) {
  if (from.size() > 0) {
    const capnp::AnyStruct::Reader first(from[0]);
    KJ_REQUIRE(first.getDataSection().size() + first.getPointerSection().size() > 0,
               "a list of structs without bytes", from.size());
  }
  return from;
}

template <typename T>
void writeNumbers(const auto& values, typename capnp::List<T>::Builder to) {
  for (uint32_t i = 0; i < values.size(); ++i) to.set(i, values[i]);
}

template <typename T, typename Values = std::vector<T>>
Values readNumbers(typename capnp::List<T>::Reader from) {
  Values values;
  values.reserve(from.size());
  for (auto value : from) values.push_back(value);
  return values;
}

template <typename T, size_t N>
std::array<T, N> readArray(typename capnp::List<T>::Reader from, const char* what) {
  KJ_REQUIRE(from.size() == N, "wrong number of entries", what, from.size(), N);
  std::array<T, N> values{};
  for (uint32_t i = 0; i < N; ++i) values[i] = from[i];
  return values;
}

inline void writeMap(const std::map<std::string, std::string>& values, capnp::List<wire::Entry>::Builder to) {
  uint32_t i = 0;
  for (const auto& [key, value] : values) {
    to[i].setKey(text(key));
    to[i].setValue(text(value));
    ++i;
  }
}

inline std::map<std::string, std::string> readMap(capnp::List<wire::Entry>::Reader from) {
  std::map<std::string, std::string> values;
  for (auto entry : elements(from)) values[text(entry.getKey())] = text(entry.getValue());
  return values;
}

}  // namespace tarcil::convert
