#include "formats/profile_file.h"

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace tarcil::profile_file_test {

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kBandwidth = static_cast<size_t>(Resource::kMemoryBandwidth);

std::string problemOf(std::string_view text) {
  auto profile = parseProfile(text, "p.yaml");
  return profile.ok() ? "" : profile.error().message;
}

TEST(ParseProfile, ReadsTheDocumentedExample) {
  auto profile = parseProfile(
      "application: logreg\n"
      "caused:    {llc: 60, memory_bandwidth: 84}\n"
      "tolerated: {llc: 30, memory_bandwidth: 10}\n"
      "platforms: {haswell-2.3: 1.0, nehalem-2.6: 0.7}\n",
      "p.yaml");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->application, "logreg");
  EXPECT_EQ(profile->caused[kBandwidth], 84);
  EXPECT_EQ(profile->tolerated[kLlc], 30);
  EXPECT_EQ(profile->platforms.at("nehalem-2.6"), 0.7);
}

TEST(ParseProfile, ToleratesTheRestOfWhatItCausesWhereNothingIsSaid) {
  auto profile =
      parseProfile("{\"tolerated\":{\"llc\":30},\"caused\":{\"llc\":60,\"memory_bandwidth\":84}}", "p.json");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->tolerated[kLlc], 30);
  EXPECT_EQ(profile->tolerated[kBandwidth], 15);
  EXPECT_EQ(profile->tolerated[0], 99);
}

TEST(ParseProfile, TakesWhatIsNamedAsStatedAndTheRestAsAssumed) {
  const auto profile = parseProfile(
      "caused: {llc: 60, core: 3}\norigins: {caused: {llc: inferred +-5}, tolerated: {tlb: measured}}", "p");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->origins.caused[kLlc], (EntryOrigin{Origin::kInferred, 5}));
  EXPECT_EQ(profile->origins.caused[0], EntryOrigin{Origin::kStated});
  EXPECT_EQ(profile->origins.caused[kBandwidth], EntryOrigin{Origin::kAssumed});
  EXPECT_EQ(profile->origins.tolerated[kLlc], EntryOrigin{Origin::kAssumed});
  EXPECT_EQ(profile->origins.tolerated[static_cast<size_t>(Resource::kTlb)], EntryOrigin{Origin::kMeasured});
}

TEST(ParseProfile, TakesPlatformsAsStatedUnlessOriginsSayMore) {
  const auto profile = parseProfile(
      "platforms: {a: 1, b: 0.7, c: 0.5, d: 0.2}\n"
      "origins: {platforms: {a: measured, b: inferred +-0.05, c: stated}}",
      "p");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->origins.platforms,
            (std::map<std::string, EntryOrigin>{{"a", {Origin::kMeasured}}, {"b", {Origin::kInferred, 5}}}));
  EXPECT_EQ(profile->origins.ofPlatform("d"), EntryOrigin{Origin::kStated});
}

TEST(ParseProfile, NamesPlaceFieldAndRemedy) {
  const std::pair<const char*, const char*> cases[] = {
      {"caused: {llc: 100}", "p.yaml:1:15: caused.llc: is '100'; write a whole number from 0 to 99"},
      {"caused: {llc: -1}", "p.yaml:1:15: caused.llc: is '-1'; write a whole number from 0 to 99"},
      {"caused: {llc: 1.5}", "p.yaml:1:15: caused.llc: is '1.5'; write a whole number from 0 to 99"},
      {"caused: {llc: \"5\"}",
       "p.yaml:1:15: caused.llc: is '5' in quotes; write a whole number from 0 to 99"},
      {"caused: [1, 2]", "p.yaml:1:9: caused: is a list; write a mapping, for example {key: value}"},
      {"caused:\n  l3: 5\n",
       "p.yaml:2:7: caused.l3: unknown resource; did you mean l2? write one of core, l1i, l1d, l2, llc, "
       "memory_bandwidth, memory_capacity, tlb, disk_bandwidth, network_bandwidth"},
      {"tolerated: {cpu: 5}",
       "p.yaml:1:18: tolerated.cpu: unknown resource; write one of core, l1i, l1d, l2, llc, "
       "memory_bandwidth, "
       "memory_capacity, tlb, disk_bandwidth, network_bandwidth"},
      {"platforms: {a: 0}", "p.yaml:1:16: platforms.a: is '0'; write a number above 0 and at most 1"},
      {"platforms: {a: 1.01}", "p.yaml:1:16: platforms.a: is '1.01'; write a number above 0 and at most 1"},
      {"platforms: {a: nan}", "p.yaml:1:16: platforms.a: is 'nan'; write a number above 0 and at most 1"},
      {"platforms: {\"\": 1}",
       "p.yaml:1:17: platforms.'': the name of a platform has 1 to 128 characters; shorten or write it"},
      {"caused: {}\norigins: {caused: {llc: guessed}}",
       "p.yaml:2:25: origins.caused.llc: is 'guessed'; write one of stated, measured, inferred, observed, "
       "assumed, with +-N behind it where it may be off by N points"},
      {"caused: {}\norigins: {tolerated: {llc: inferred +-100}}",
       "p.yaml:2:28: origins.tolerated.llc: is 'inferred +-100'; write one of stated, measured, inferred, "
       "observed, assumed, with +-N behind it where it may be off by N points"},
      {"platforms: {a: 1}\norigins: {platforms: {a: inferred +-5}}",
       "p.yaml:2:26: origins.platforms.a: is 'inferred +-5'; write one of stated, measured, inferred, "
       "observed, "
       "assumed, with +-X behind it where it may be off by X, as 0.05, of the best performance"},
      {"platforms: {a: 1}\norigins: {platforms: {b: measured}}",
       "p.yaml:2:26: origins.platforms.b: the profile says nothing of this platform; write it under "
       "platforms "
       "too, or leave it out"},
      {"application: \"\"\ncaused: {}",
       "p.yaml:1:14: application: is '' in quotes; write 1 to 128 printable characters"},
      {"{}", "p.yaml:1:1: file: the profile says nothing; give caused, tolerated or platforms"},
      {"cause: {llc: 5}",
       "p.yaml:1:1: cause: unknown field; did you mean caused? known here: application, caused, tolerated, "
       "platforms, origins\n"
       "p.yaml:1:1: file: the profile says nothing; give caused, tolerated or platforms"},
      {"caused: {llc: 5, llc: 6}", "p.yaml:1:18: caused.llc: is given twice, first in line 1; keep one"},
      {"just text", "p.yaml:1:1: file: is 'just text'; write a mapping, for example {key: value}"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(problemOf(text), expected) << text;
}

TEST(ReadProfile, NamesTheFile) {
  ScratchFolder folder;
  folder.write("p.yaml", "caused: {llc: 100}");
  EXPECT_EQ(readProfile(folder.at("p.yaml")).error().message,
            folder.at("p.yaml") + ":1:15: caused.llc: is '100'; write a whole number from 0 to 99");
  EXPECT_EQ(readProfile(folder.at("q.yaml")).error().code, ErrorCode::kInvalid);
}

TEST(ParsePressure, LeavesOutMeansZero) {
  auto pressure = parsePressure("{memory_bandwidth: 8, llc: 3}", "contention");
  ASSERT_TRUE(pressure.ok());
  EXPECT_EQ((*pressure)[kBandwidth], 8);
  EXPECT_EQ((*pressure)[0], 0);
  EXPECT_EQ(parsePressure("{disk: 3}", "c").error().code, ErrorCode::kInvalid);
}

TEST(ParseShare, RoundsTo256ths) {
  auto share = parseShare("{memory_bandwidth: 0.5, llc: 0.3, tlb: 0, core: 4}", "share");
  ASSERT_TRUE(share.ok()) << share.error().message;
  EXPECT_EQ((*share)[kBandwidth], 128);
  EXPECT_EQ((*share)[kLlc], 77);
  EXPECT_EQ((*share)[0], 1024);
  EXPECT_EQ((*share)[1], 256);
  EXPECT_EQ(parseShare("{llc: 4.1}", "s").error().message,
            "s:1:7: llc: is '4.1'; write a number from 0 to 4");
}

}  // namespace tarcil::profile_file_test
