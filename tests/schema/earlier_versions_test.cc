// What an earlier version wrote on the wire or into a store is read by this one: its schemas are kept under
// tests/data/wire, and each field, enumerant and method of them is where it was.
#include <capnp/schema-parser.h>
#include <gtest/gtest.h>
#include <kj/filesystem.h>

#include <filesystem>
#include <map>

namespace tarcil::earlier_versions_test {

namespace fs = std::filesystem;

// Every file of a folder of schemas. The parser must outlive what it gives.
std::map<std::string, capnp::ParsedSchema> schemasIn(capnp::SchemaParser& parser, kj::Filesystem& disk,
                                                     const std::string& folder) {
  std::map<std::string, capnp::ParsedSchema> schemas;
  auto system = disk.getRoot().openSubdir(kj::Path({"usr", "include"}));
  const kj::ReadableDirectory* imports[] = {system.get()};
  auto directory = disk.getRoot().openSubdir(disk.getCurrentPath().evalNative(folder));
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".capnp") continue;
    const std::string name = entry.path().filename().string();
    schemas[name] = parser.parseFromDirectory(*directory, kj::Path(name), kj::arrayPtr(imports, 1));
  }
  return schemas;
}

class Comparison {
 public:
  void compare(const capnp::ParsedSchema& before, const capnp::ParsedSchema& now, const std::string& path) {
    for (const auto nested : before.getAllNested()) {
      const std::string name = nested.getUnqualifiedName().cStr();
      KJ_IF_MAYBE (found, now.findNested(name)) {
        compare(nested, *found, path + "." + name);
      } else {
        ADD_FAILURE() << path << "." << name << " is gone";
      }
    }
    const auto proto = before.getProto();
    ASSERT_EQ(proto.which(), now.getProto().which()) << path;
    EXPECT_EQ(proto.getId(), now.getProto().getId()) << path;
    if (proto.isStruct()) compareFields(before.asStruct(), now.asStruct(), path);
    if (proto.isEnum()) {
      EXPECT_GE(now.asEnum().getEnumerants().size(), before.asEnum().getEnumerants().size()) << path;
    }
    if (proto.isInterface()) compareMethods(before.asInterface(), now.asInterface(), path);
  }

 private:
  // By ordinal: a name may change, since nothing on the wire has it.
  static void compareFields(capnp::StructSchema before, capnp::StructSchema now, const std::string& path) {
    std::map<uint32_t, capnp::StructSchema::Field> fields;
    for (const auto field : now.getFields()) {
      if (field.getProto().getOrdinal().isExplicit())
        fields.emplace(field.getProto().getOrdinal().getExplicit(), field);
    }
    for (const auto field : before.getFields()) {
      const auto proto = field.getProto();
      if (!proto.getOrdinal().isExplicit()) continue;
      const std::string at = path + "." + proto.getName().cStr();
      const auto found = fields.find(proto.getOrdinal().getExplicit());
      if (found == fields.end()) {
        ADD_FAILURE() << at << " is gone";
        continue;
      }
      const auto slot = found->second.getProto();
      ASSERT_EQ(slot.which(), proto.which()) << at;
      EXPECT_EQ(slot.getDiscriminantValue(), proto.getDiscriminantValue()) << at;
      if (!proto.isSlot()) continue;
      EXPECT_EQ(slot.getSlot().getOffset(), proto.getSlot().getOffset()) << at;
      EXPECT_EQ(slot.getSlot().getType().which(), proto.getSlot().getType().which()) << at;
    }
  }

  static void compareMethods(capnp::InterfaceSchema before, capnp::InterfaceSchema now,
                             const std::string& path) {
    const auto methods = now.getMethods();
    for (const auto method : before.getMethods()) {
      const std::string at = path + "." + method.getProto().getName().cStr();
      if (method.getOrdinal() >= methods.size()) {
        ADD_FAILURE() << at << " is gone";
        continue;
      }
      const auto same = methods[method.getOrdinal()];
      compareFields(method.getParamType(), same.getParamType(), at + " takes");
      compareFields(method.getResultType(), same.getResultType(), at + " gives");
    }
  }
};

TEST(EarlierVersions, SpeakOnTheSameWire) {
  auto disk = kj::newDiskFilesystem();
  capnp::SchemaParser presentParser;
  const auto present = schemasIn(presentParser, *disk, TARCIL_SOURCE_DIR "/schema");
  size_t versions = 0;
  for (const auto& version : fs::directory_iterator(TARCIL_SOURCE_DIR "/tests/data/wire")) {
    ++versions;
    capnp::SchemaParser parser;
    for (const auto& [name, before] : schemasIn(parser, *disk, version.path().string())) {
      const std::string at = version.path().filename().string() + "/" + name;
      ASSERT_TRUE(present.contains(name)) << at << " is gone";
      Comparison().compare(before, present.at(name), at);
    }
  }
  EXPECT_GE(versions, 1u);
}

}  // namespace tarcil::earlier_versions_test
