#include "formats/servers_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace tarcil::servers_file_test {

std::string problemOf(std::string_view text) {
  auto servers = parseServers(text, "s.yaml");
  return servers.ok() ? "" : servers.error().message;
}

TEST(ParseServers, ExpandsGroups) {
  auto file = parseServers(
      "servers:\n"
      "  - name: haswell-{n}\n"
      "    count: 5\n"
      "    rus: 8\n"
      "    platform: haswell-2.3\n"
      "    rack: r{rack}\n"
      "    servers_per_rack: 2\n"
      "    memory: 64GiB\n"
      "    attributes: {gpu: true}\n"
      "    extras: {gpus: 4}\n"
      "  - {name: storage, rus: 2}\n"
      "platforms: {haswell-2.3: {memory_bandwidth: 0.5}}\n",
      "s.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->servers.size(), 6u);
  const EmulatedServer last = {"haswell-5", "haswell-2.3",     "r3",         8,
                               64ull << 30, {{"gpu", "true"}}, {{"gpus", 4}}};
  EXPECT_EQ(file->servers[4], last);
  const EmulatedServer plain = {"storage", "emulated", "", 2, 8ull << 30, {}};
  EXPECT_EQ(file->servers[5], plain);
  EXPECT_EQ(file->servers[2].rack, "r2");
  EXPECT_EQ(file->platforms.at("haswell-2.3")[static_cast<size_t>(Resource::kMemoryBandwidth)], 128);
}

TEST(ParseServers, NamesPlaceFieldAndRemedy) {
  const std::string names = "write letters, digits, dots, dashes or underscores";
  const std::pair<const char*, std::string> cases[] = {
      {"{}", "s.yaml:1:1: file: servers are missing; write for example servers: [{name: s1, rus: 8}]"},
      {"servers: []", "s.yaml:1:10: servers: is an empty list; write at least one server"},
      {"servers: {}", "s.yaml:1:10: servers: is a mapping; write a list, for example [a, b]"},
      {"servers: [a]", "s.yaml:1:11: servers[0]: is 'a'; write a mapping, for example {key: value}"},
      {"servers: [{rus: 1}]",
       "s.yaml:1:11: servers[0]: name is missing; write one for each server, or with {n} in it for a group"},
      {"servers: [{name: a}]",
       "s.yaml:1:11: servers[0]: rus is missing; write the number of resource units of each server"},
      {"servers: [{name: a, rus: 0}]",
       "s.yaml:1:26: servers[0].rus: is '0'; write a whole number from 1 to 4096"},
      {"servers: [{name: a, rus: 1, count: 0}]",
       "s.yaml:1:36: servers[0].count: is '0'; write a whole number from 1 to 100000"},
      {"servers: [{name: a, rus: 1, count: 2}]",
       "s.yaml:1:18: servers[0].name: is 'a'; put {n} into the name of 2 servers, as in server-{n}"},
      {"servers: [{name: a b, rus: 1}]",
       "s.yaml:1:18: servers[0].name: is 'a b'; " + names + ", and {n} for a number"},
      {"servers: [{name: 'a{m}', rus: 1}]",
       "s.yaml:1:18: servers[0].name: is 'a{m}' in quotes; " + names + ", and {n} for a number"},
      {"servers: [{name: a, rus: 1, platform: ''}]",
       "s.yaml:1:39: servers[0].platform: is '' in quotes; " + names},
      {"servers: [{name: a, rus: 1, rack: 'r{rack}'}]",
       "s.yaml:1:35: servers[0].rack: is 'r{rack}' in quotes; add servers_per_rack, the number of servers in "
       "each rack"},
      {"servers: [{name: a, rus: 1, rack: r, servers_per_rack: 4}]",
       "s.yaml:1:56: servers[0].servers_per_rack: needs a rack with {rack} in its name, as in rack: r{rack}; "
       "add it"},
      {"servers: [{name: a, rus: 1, memory: 4}]",
       "s.yaml:1:37: servers[0].memory: '4' has no unit; write one of B, KiB, MiB, GiB, TiB behind the "
       "number, for "
       "example 100MiB"},
      {"servers: [{name: a, rus: 1, attributes: {rack: r}}]",
       "s.yaml:1:48: servers[0].attributes.rack: is an attribute that every server has; write it as a field "
       "of the "
       "server"},
      {"servers: [{name: a, rus: 1, extras: {gpus: 0}}]",
       "s.yaml:1:44: servers[0].extras.gpus: is '0'; write a whole number from 1 to 4096"},
      {"servers: [{name: a, rus: 1, extras: 4}]",
       "s.yaml:1:37: servers[0].extras: is '4'; write a mapping, for example {key: value}"},
      {"servers: [{name: a, rus: 1, attributes: {a b: r}}]",
       "s.yaml:1:47: servers[0].attributes.a b: an attribute's name has letters, digits, dots, dashes or "
       "underscores; "
       "rename it"},
      {"servers: [{name: a, rus: 1}, {name: a, rus: 1}]",
       "s.yaml:1:30: servers[1]: a second server has the name 'a'; choose another"},
      {"servers: [{name: 'a{n}', rus: 1, count: 60000}, {name: 'b{n}', rus: 1, count: 60000}]",
       "s.yaml:1:49: servers[1]: the file has more than 100000 servers; lower count"},
      {"servers: [{name: 'a{n}', rus: 4096, count: 245}]",
       "s.yaml:1:11: servers[0]: the servers have more than 1000000 resource units in all; lower count or "
       "rus"},
      {"servers: [{name: a, rus: 1, cores: 4}]",
       "s.yaml:1:29: servers[0].cores: unknown field; known here: name, rus, count, platform, rack, "
       "servers_per_rack, "
       "memory, disk, attributes, extras"},
      {"servers: [{name: a, rus: 1, platform: x1}]\nplatforms: {x2: {llc: 5}}",
       "s.yaml:2:17: platforms.x2: no server has this platform; did you mean x1? remove it\n"
       "s.yaml:2:23: platforms.x2.llc: is '5'; write a number from 0 to 4"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(problemOf(text), expected) << text;
}

TEST(ParseServers, HoldsAHundredThousand) {
  auto file = parseServers("servers: [{name: 's{n}', rus: 10, count: 100000}]", "s.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->servers.back().name, "s100000");
}

TEST(ReadServersFile, NamesTheFile) {
  ScratchFolder folder;
  folder.write("s.yaml", "servers: []");
  EXPECT_THAT(readServersFile(folder.at("s.yaml")).error().message,
              testing::StartsWith(folder.at("s.yaml") + ":1:10: servers: is an empty list"));
  EXPECT_FALSE(readServersFile(folder.at("none.yaml")).ok());
}

}  // namespace tarcil::servers_file_test
