#include "tests/fuzz/message_mutation.h"

#include <capnp/serialize.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/fuzz/edges.h"

namespace tarcil::fuzz {
namespace {

using capnp::DynamicList;
using capnp::DynamicStruct;
using capnp::DynamicValue;
using Type = capnp::schema::Type;

// Elements of a list that grows; a list of numbers may become longer.
constexpr uint32_t kMaxElements = 64, kMaxNumbers = 5'000;
constexpr size_t kMaxTextBytes = 5'000;

// A field of a struct.
struct FieldSlot {
  DynamicStruct::Builder in;
  capnp::StructSchema::Field field;

  capnp::Type type() const { return field.getType(); }
  // It is a member of a union that has another one.
  bool isOff() {
    if (field.getProto().getDiscriminantValue() == capnp::schema::Field::NO_DISCRIMINANT) return false;
    KJ_IF_MAYBE (active, in.which()) return !(*active == field);
    return true;
  }
  bool isThere() { return !isOff() && in.has(field); }
  DynamicValue::Builder get() { return in.get(field); }
  uint32_t listSize() { return in.asReader().get(field).as<DynamicList>().size(); }
  void set(const DynamicValue::Reader& value) { in.set(field, value); }
  DynamicValue::Builder init(uint32_t size) { return in.init(field, size); }
  void init() { in.init(field); }
  void clear() { in.clear(field); }
  capnp::Orphan<DynamicValue> disown() { return in.disown(field); }
};

// An element of a list. A struct is there always.
struct ElementSlot {
  DynamicList::Builder in;
  uint32_t index;

  capnp::Type type() const { return in.getSchema().getElementType(); }
  bool isThere() { return true; }
  DynamicValue::Builder get() { return in[index]; }
  uint32_t listSize() { return in.asReader()[index].as<DynamicList>().size(); }
  void set(const DynamicValue::Reader& value) { in.set(index, value); }
  DynamicValue::Builder init(uint32_t size) { return in.init(index, size); }
  void init() {}
  void clear() {}
  capnp::Orphan<DynamicValue> disown() { return in.disown(index); }
};

class Mutator {
 public:
  explicit Mutator(Rng& rng) : rng_(rng) {}

  void change(DynamicStruct::Builder message) {
    const auto fields = message.getSchema().getFields();
    if (fields.size() == 0) return;
    FieldSlot slot{message, fields[static_cast<uint32_t>(rng_.below(fields.size()))]};
    if (slot.field.getProto().isGroup()) return change(slot.get().as<DynamicStruct>());
    change(slot);
  }

 private:
  template <typename Slot>
  void change(Slot slot) {
    switch (slot.type().which()) {
      case Type::VOID:
        return slot.set(capnp::VOID);
      case Type::BOOL:
        return slot.set(slot.isThere() ? !slot.get().template as<bool>() : true);
      case Type::INT8:
        return slot.set(integer<int8_t>(slot));
      case Type::INT16:
        return slot.set(integer<int16_t>(slot));
      case Type::INT32:
        return slot.set(integer<int32_t>(slot));
      case Type::INT64:
        return slot.set(integer<int64_t>(slot));
      case Type::UINT8:
        return slot.set(integer<uint8_t>(slot));
      case Type::UINT16:
        return slot.set(integer<uint16_t>(slot));
      case Type::UINT32:
        return slot.set(integer<uint32_t>(slot));
      case Type::UINT64:
        return slot.set(integer<uint64_t>(slot));
      case Type::FLOAT32:
        return slot.set(static_cast<float>(oneOf(kEdgeNumbers, rng_)));
      case Type::FLOAT64:
        return slot.set(oneOf(kEdgeNumbers, rng_));
      case Type::ENUM: {
        // One more than there are: of a peer that is newer.
        const capnp::EnumSchema schema = slot.type().asEnum();
        const auto value = static_cast<uint16_t>(rng_.below(schema.getEnumerants().size() + 1));
        return slot.set(capnp::DynamicEnum(schema, value));
      }
      case Type::TEXT: {
        const auto old =
            slot.isThere() ? slot.get().asReader().template as<capnp::Text>() : capnp::Text::Reader();
        const std::string text = changed({old.begin(), old.size()});
        return slot.set(capnp::Text::Reader(text.c_str(), text.size()));
      }
      case Type::DATA: {
        const auto old =
            slot.isThere() ? slot.get().asReader().template as<capnp::Data>() : capnp::Data::Reader();
        const std::string data = changed({old.asChars().begin(), old.size()});
        return slot.set(capnp::Data::Reader(kj::StringPtr(data.c_str(), data.size()).asBytes()));
      }
      case Type::LIST:
        return changeList(slot);
      case Type::STRUCT:
        if (!slot.isThere()) return slot.init();
        if (rng_.below(8) == 0) return slot.clear();
        return change(slot.get().template as<DynamicStruct>());
      case Type::INTERFACE:
      case Type::ANY_POINTER:
        return;
    }
  }

  template <typename T, typename Slot>
  T integer(Slot slot) {
    if (slot.isThere() && rng_.below(2) == 0) {
      const auto old = static_cast<uint64_t>(slot.get().template as<T>());
      return static_cast<T>(rng_.below(2) == 0 ? old + 1 : old - 1);
    }
    return static_cast<T>(rng_.below(8) == 0 ? static_cast<int64_t>(rng_()) : oneOf(kEdgeIntegers, rng_));
  }

  std::string changed(std::string text) {
    const size_t at = rng_.below(text.size() + 1);
    switch (rng_.below(6)) {
      case 0:
        return std::string(oneOf(kEdgeTexts, rng_));
      case 1:
        return text.substr(0, at);
      case 2:
        return text.append(1 + rng_.below(kMaxTextBytes), 'x');
      case 3:
        return text.insert(at, 1, '\0');
      case 4:
        return text.insert(at, text.substr(at / 2));
      default:
        if (at < text.size()) text[at] = static_cast<char>(rng_());
        return text;
    }
  }

  template <typename Slot>
  void changeList(Slot slot) {
    const uint32_t size = slot.isThere() ? slot.listSize() : 0;
    // A list of millions of empty structs takes no room in a message, but some once they can be changed.
    if (size > kMaxNumbers) return slot.clear();
    if (size > 0 && rng_.below(3) != 0) {
      auto list = slot.get().template as<DynamicList>();
      return change(ElementSlot{list, static_cast<uint32_t>(rng_.below(size))});
    }
    const auto element = slot.type().asList().getElementType();
    const bool isOfPointers = element.isStruct() || element.isList() || element.isText() || element.isData();
    const uint32_t most = std::max(size, isOfPointers ? kMaxElements : kMaxNumbers);
    std::vector<uint32_t> places(size);  // in the old list, of the elements of the new one
    for (uint32_t i = 0; i < size; ++i) places[i] = i;
    switch (rng_.below(4)) {
      case 0:
        places.resize(rng_.below(size + 1));
        break;
      case 1:
        if (size > 0) places.erase(places.begin() + static_cast<ptrdiff_t>(rng_.below(size)));
        break;
      case 2:
        if (size > 0 && size < most) places.insert(places.begin(), static_cast<uint32_t>(rng_.below(size)));
        break;
      default:
        // What is behind the old ones' end is empty.
        places.resize(rng_.below(most + 1), size);
    }
    kj::Maybe<capnp::Orphan<DynamicValue>> old;
    if (slot.isThere()) old = slot.disown();
    auto list = slot.init(static_cast<uint32_t>(places.size())).template as<DynamicList>();
    KJ_IF_MAYBE (orphan, old) {
      const auto from = orphan->getReader().template as<DynamicList>();
      for (uint32_t i = 0; i < list.size(); ++i) {
        if (places[i] < size) copy(from[places[i]], ElementSlot{list, i});
      }
    }
  }

  // Structs in lists cannot be set as a whole.
  static void copy(const DynamicValue::Reader& from, ElementSlot to) {
    if (from.getType() != DynamicValue::STRUCT) return to.set(from);
    copyFields(from.as<DynamicStruct>(), to.get().as<DynamicStruct>());
  }
  static void copyFields(DynamicStruct::Reader from, DynamicStruct::Builder to) {
    for (const auto field : from.getSchema().getFields()) {
      if (from.has(field)) to.set(field, from.get(field));
    }
  }

  Rng& rng_;
};

}  // namespace

void mutate(DynamicStruct::Builder message, Rng& rng) {
  for (uint64_t left = 1 + rng.below(4); left > 0; --left) Mutator(rng).change(message);
}

Bytes mutatedMessage(const Bytes& message, capnp::StructSchema schema, Rng& rng) {
  const auto words = wordsOf(message.data(), message.size());
  capnp::FlatArrayMessageReader reader(words);
  capnp::MallocMessageBuilder changed;
  changed.setRoot(reader.getRoot<DynamicStruct>(schema));
  mutate(changed.getRoot<DynamicStruct>(schema), rng);
  // Copied, so that nothing is left of what was there before.
  capnp::MallocMessageBuilder tidy;
  tidy.setRoot(changed.getRoot<DynamicStruct>(schema).asReader());
  return inputOf(capnp::messageToFlatArray(tidy));
}

kj::Array<capnp::word> wordsOf(const uint8_t* bytes, size_t size) {
  auto words = kj::heapArray<capnp::word>(size / sizeof(capnp::word));
  if (words.size() != 0) std::memcpy(words.asBytes().begin(), bytes, words.asBytes().size());
  return words;
}

Bytes inputOf(kj::ArrayPtr<const capnp::word> words) {
  const auto bytes = words.asBytes();
  return {bytes.begin(), bytes.end()};
}

}  // namespace tarcil::fuzz
