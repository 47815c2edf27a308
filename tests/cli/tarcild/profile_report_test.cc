// Profiles, calibrations and known applications as files.
#include "cli/tarcild/profile_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cli/known_applications.h"
#include "cli/output/profile_yaml.h"
#include "formats/calibration_file.h"
#include "formats/profile_file.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::profile_report_test {

using testing::HasSubstr;

constexpr auto kCore = static_cast<size_t>(Resource::kCore);
constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);
constexpr auto kBandwidth = static_cast<size_t>(Resource::kMemoryBandwidth);

// LLC measured, memory bandwidth inferred, all else unknown.
ProfileReport aReport() {
  ProfileReport report;
  report.application = "train: # \"it\"";
  report.command = {"./train", "--input", "a b"};
  report.findings.alone.performance = 2;
  ResourceFinding finding;
  finding.resource = Resource::kLlc;
  finding.tolerance = {.tolerated = 40, .borne = 36, .tooMuch = 44, .strongest = 99, .performance = 0.5};
  report.findings.resources = {finding};
  report.completed.profile.tolerated[kLlc] = 40;
  report.completed.tolerated[kLlc] = {Origin::kMeasured, 0};
  report.completed.profile.origins = ProfileOrigins::all(Origin::kAssumed);
  report.completed.profile.origins.tolerated[kLlc] = {Origin::kMeasured};
  report.completed.profile.caused[kBandwidth] = 30;
  report.completed.caused[kBandwidth] = {Origin::kInferred, 7.6};
  report.completed.profile.origins.caused[kBandwidth] = {Origin::kInferred, 8};
  return report;
}

TEST(ProfileReport, IsAFileThatSubmitTakes) {
  const std::string text = yamlOf(aReport());
  const auto profile = parseProfile(text, "p.yaml");
  ASSERT_TRUE(profile.ok()) << profile.error().message << "\n" << text;
  EXPECT_EQ(profile->application, "train: # \"it\"");
  EXPECT_EQ(profile->tolerated[kLlc], 40);
  EXPECT_EQ(profile->caused[kBandwidth], 30);
  EXPECT_EQ(profile->tolerated[kBandwidth], 69);  // as for whatever a profile does not say
  EXPECT_EQ(profile->tolerated[kCore], 99);
}

TEST(ProfileReport, SaysWhereEachNumberComesFrom) {
  const std::string text = yamlOf(aReport());
  EXPECT_THAT(text, HasSubstr("  llc: 40  # measured, 0.500 of its speed at 99\n"));
  EXPECT_THAT(text, HasSubstr("  memory_bandwidth: 30  # inferred, +-8\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("core:")));
  const auto profile = parseProfile(text, "p.yaml");
  ASSERT_TRUE(profile.ok()) << profile.error().message << "\n" << text;
  EXPECT_EQ(profile->origins.tolerated[kLlc], (EntryOrigin{Origin::kMeasured, 4}));
  EXPECT_EQ(profile->origins.caused[kBandwidth], (EntryOrigin{Origin::kInferred, 8}));
  EXPECT_EQ(profile->origins.tolerated[kBandwidth], EntryOrigin{Origin::kAssumed});
}

TEST(ProfileYaml, ComesBackAsItWasWritten) {
  Profile profile;
  profile.application = "sort@9.1";
  profile.platforms = {{"haswell-2.3", 1}, {"p", 0.1}};
  EXPECT_EQ(parseProfile(yamlOf(profile), "p").value(), profile) << "of a program that knew no origins";
  profile.origins = ProfileOrigins::all(Origin::kAssumed);
  profile.caused[kLlc] = 60;
  profile.tolerated[kLlc] = 39;
  profile.origins.caused[kLlc] = {Origin::kInferred, 5};
  profile.origins.caused[kCore] = {Origin::kMeasured};  // measured to be nothing
  profile.tolerated[kBandwidth] = 12;
  profile.origins.tolerated[kBandwidth] = {Origin::kObserved};
  profile.tolerated[kCore] = 98;
  profile.origins.tolerated[kCore] = {Origin::kStated};
  const std::string text = yamlOf(profile);
  EXPECT_EQ(parseProfile(text, "p").value(), profile) << text;
  EXPECT_EQ(text,
            "application: \"sort@9.1\"\n"
            "caused: {core: 0, llc: 60}\n"
            "tolerated: {core: 98, memory_bandwidth: 12}\n"
            "platforms: {\"haswell-2.3\":1.0,\"p\":0.1}\n"
            "origins:\n"
            "  caused: {core: measured, llc: inferred +-5}\n"
            "  tolerated: {memory_bandwidth: observed}\n");
}

TEST(ProfileYaml, SaysWhereItsPlatformsComeFrom) {
  Profile profile;
  profile.platforms = {{"p: \"1\"", 1}, {"q", 0.7}, {"r", 0.5}};
  profile.origins.platforms = {{"p: \"1\"", {Origin::kMeasured}}, {"q", {Origin::kInferred, 5}}};
  const std::string text = yamlOf(profile);
  EXPECT_EQ(parseProfile(text, "p").value(), profile) << text;
  EXPECT_THAT(text, HasSubstr("  platforms: {\"p: \\\"1\\\"\": measured, \"q\": inferred +-0.05}\n"));
}

TEST(ProfileReport, OfNothingIsStillAProfile) {
  const auto profile = parseProfile(yamlOf(ProfileReport()), "p.yaml");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->tolerated, Profile::filled(kMaxPressure));
}

TEST(ProfileReport, HasOriginAndErrorOfEveryEntryAsJson) {
  const Json json = jsonOf(aReport());
  ASSERT_EQ(json["entries"].size(), 2u * kResources);
  const Json& llc = json["entries"][kLlc];
  EXPECT_EQ(llc["kind"], "tolerated");
  EXPECT_EQ(llc["origin"], "measured");
  EXPECT_EQ(llc["expected_error"], 4.0);  // half of what lies between borne and not borne
  EXPECT_EQ(json["entries"][kResources + kBandwidth]["expected_error"], 7.6);
  EXPECT_EQ(json["tolerated"], (Json{{"llc", 40}}));
}

Calibration aCalibration() {
  Calibration calibration;
  calibration.platform = "kvm";
  calibration.processor = "Some Processor";
  calibration.cores = 2;
  calibration.llcBytesSaid = 100;
  calibration.llcBytes = 50;
  calibration[Resource::kLlc] = {std::nullopt,          5e9,          {{10, 10}, {99, 91.5}},
                                 {{10, 10}, {99, 140}}, std::nullopt, {{50, 0.25}}};
  calibration[Resource::kL2].notContended = "each core has its own";
  calibration[Resource::kDiskBandwidth].absent = "no disk";
  calibration.crossTalk[kLlc][kBandwidth] = 0.125;
  return calibration;
}

TEST(CalibrationFile, ComesBackAsItWasWritten) {
  const ScratchFolder folder;
  const std::string path = calibrationPath(folder.path().string(), "kvm");
  ASSERT_TRUE(writeCalibration(path, aCalibration()).ok());
  const auto read = readCalibration(path);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, aCalibration());
}

TEST(CalibrationFile, SaysNotMeasurableAndNeverZero) {
  const Json json = jsonOf(aCalibration());
  EXPECT_EQ(json["resources"]["l2"]["not_measurable"], "each core has its own");
  EXPECT_TRUE(json["cross_talk"]["l2"]["l2"].is_null());
  EXPECT_EQ(json["cross_talk"]["llc"]["memory_bandwidth"], 0.125);
  EXPECT_THAT(textOf(aCalibration()), HasSubstr("each core has its own"));
}

TEST(CalibrationFile, SaysWhichDialsAreToBeTrusted) {
  const Json json = jsonOf(aCalibration());
  EXPECT_EQ(json["resources"]["llc"]["within_5_points"], false);
  EXPECT_TRUE(json["resources"]["core"]["within_5_points"].is_null());
  EXPECT_THAT(textOf(aCalibration()), testing::ContainsRegex("llc +7.5 +no +92"));
}

TEST(CalibrationFile, OfAnOlderProgramHasItsDialsWhereTheyWere) {
  const ScratchFolder folder;
  Json json = jsonOf(aCalibration());
  json["resources"]["llc"].erase("settings");
  folder.write("c.json", json.dump());
  const auto read = readCalibration(folder.at("c.json"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(settingFor((*read)[Resource::kLlc], 75), 75);
}

TEST(CalibrationFile, ThatIsNoneIsRefusedWithItsPath) {
  const ScratchFolder folder;
  for (const char* text : {"", "{}", "[1]", "{\"format\": 9}", "{\"format\": 1, \"platform\": 3}", "\xff"}) {
    folder.write("c.json", text);
    const auto read = readCalibration(folder.at("c.json"));
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(read.error().message, HasSubstr(folder.at("c.json") + ": "));
  }
  EXPECT_EQ(readCalibration(folder.at("none.json")).error().code, ErrorCode::kNotFound);
}

TEST(KnownApplications, ThatCameWithTarcilAreGood) {
  const auto known = parseApplications(shippedApplications(), "shipped");
  ASSERT_TRUE(known.ok()) << known.error().message;
}

TEST(KnownApplications, KeepWhatWasNotMeasuredApart) {
  const auto known = parseApplications(
      "applications:\n  - {application: a, tolerated: {llc: 0}, caused: {core: 50}, platforms: {p: 3.5}}\n",
      "k");
  ASSERT_TRUE(known.ok()) << known.error().message;
  ASSERT_EQ(known->size(), 1u);
  EXPECT_EQ((*known)[0].tolerated[kLlc], 0);
  EXPECT_FALSE((*known)[0].tolerated[kBandwidth]);
  EXPECT_EQ((*known)[0].caused[kCore], 50);
  EXPECT_EQ((*known)[0].platforms.at("p"), 3.5);
}

TEST(KnownApplications, ComeBackAsTheyWereWritten) {
  PartialProfile application;
  application.application = "a: \"b\"";
  application.tolerated[kLlc] = 0;
  application.caused[kCore] = 99;
  application.platforms = {{"p", 3.5}};
  for (const auto& applications : {std::vector<PartialProfile>(), {application}}) {
    const auto read = parseApplications(yamlOf(applications), "k");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, applications);
  }
}

// Kept by a cluster since that second: `tolerated` of the last-level cache is measured, what it causes of
// it inferred.
StoredProfile kept(const std::string& application, uint8_t tolerated, int second = 0) {
  StoredProfile stored;
  stored.profile.application = application;
  stored.profile.tolerated[kLlc] = tolerated;
  stored.profile.origins.tolerated[kLlc] = {Origin::kMeasured};
  stored.profile.caused[kLlc] = 50;
  stored.profile.origins.caused[kLlc] = {Origin::kInferred, 5};
  stored.stored = WallTime(std::chrono::seconds(second));
  return stored;
}

const PartialProfile* named(const std::vector<PartialProfile>& known, const std::string& application) {
  const auto found = std::ranges::find(known, application, &PartialProfile::application);
  return found == known.end() ? nullptr : &*found;
}

TEST(KnownApplications, AreThoseThatAClusterMeasuredToo) {
  const size_t shipped = parseApplications(shippedApplications(), "shipped")->size();
  EXPECT_EQ(knownApplications({}, "").size(), shipped);
  const auto known = knownApplications({kept("ours", 7), kept("sort", 8), kept("asked", 9)}, "asked");
  ASSERT_NE(named(known, "ours"), nullptr);
  EXPECT_EQ(named(known, "ours")->tolerated[kLlc], 7);
  EXPECT_EQ(named(known, "ours")->caused[kLlc], std::nullopt) << "inferred is not known";
  EXPECT_EQ(named(known, "sort")->tolerated[kLlc], 8) << "this cluster's own, not what came with tarcil";
  EXPECT_EQ(named(known, "asked"), nullptr);
  EXPECT_EQ(known.size(), shipped + 1);
}

TEST(KnownApplications, AreKnownOnThePlatformsWhereTheyWereMeasured) {
  StoredProfile fast;
  fast.profile.application = "fast";
  fast.profile.platforms = {{"p", 1}, {"q", 0.5}, {"r", 0.2}};
  fast.profile.origins.setPlatform("p", {Origin::kMeasured});
  fast.profile.origins.setPlatform("q", {Origin::kMeasured});
  fast.profile.origins.setPlatform("r", {Origin::kInferred, 4});
  const auto known = knownApplications({fast}, "");
  ASSERT_NE(named(known, "fast"), nullptr);
  EXPECT_EQ(named(known, "fast")->platforms, (PlatformSpeeds{{"p", 1}, {"q", 0.5}}));
}

// One of a kind that only the cluster knows: the more it uses cores, the less of the cache it tolerates.
PartialProfile ofOurKind(int core) {
  PartialProfile application;
  application.application = "ours" + std::to_string(core);
  application.caused[kCore] = static_cast<uint8_t>(core);
  application.tolerated[kLlc] = static_cast<uint8_t>(kMaxPressure - core);
  application.tolerated[kBandwidth] = static_cast<uint8_t>(kMaxPressure - core / 2);
  return application;
}

TEST(KnownApplications, OfTheClusterCompleteWhatIsLikeThemBetter) {
  std::vector<StoredProfile> ours;
  for (int core = 5; core < 90; core += 2) {
    const PartialProfile application = ofOurKind(core);
    StoredProfile stored = kept(application.application, *application.tolerated[kLlc]);
    stored.profile.caused[kCore] = *application.caused[kCore];
    stored.profile.origins.caused[kCore] = {Origin::kMeasured};
    stored.profile.tolerated[kBandwidth] = *application.tolerated[kBandwidth];
    stored.profile.origins.tolerated[kBandwidth] = {Origin::kMeasured};
    ours.push_back(stored);
  }
  const auto errorOf = [](const std::vector<PartialProfile>& known) {
    const ProfileCompleter completer(known);
    int sum = 0;
    for (int core : {20, 50, 80}) {
      PartialProfile asked = ofOurKind(core);
      const int truth = *std::exchange(asked.tolerated[kLlc], std::nullopt);
      sum += std::abs(completer.complete(asked).profile.tolerated[kLlc] - truth);
    }
    return sum / 3;
  };
  const int shipped = errorOf(knownApplications({}, "")), all = errorOf(knownApplications(ours, ""));
  EXPECT_LT(2 * all, shipped) << "missed by so many points: " << all << ", from those that came: " << shipped;
}

TEST(KnownApplications, AreNeitherGuessesNorMoreThanCanBeUsed) {
  StoredProfile stated = kept("stated", 7), observed = kept("observed", 7);
  stated.profile.origins.tolerated[kLlc] = {Origin::kStated};
  observed.profile.origins.tolerated[kLlc] = {Origin::kObserved};
  const size_t shipped = knownApplications({stated, observed}, "").size();
  EXPECT_EQ(shipped, parseApplications(shippedApplications(), "shipped")->size());
  std::vector<StoredProfile> many;
  for (int i = 0; i <= static_cast<int>(kMaxKept); ++i) many.push_back(kept("a" + std::to_string(i), 7, i));
  const auto known = knownApplications(many, "");
  EXPECT_EQ(known.size(), shipped + kMaxKept);
  EXPECT_EQ(named(known, "a0"), nullptr) << "the oldest";
}

TEST(KnownApplications, AreRefusedWithPlaceAndRemedy) {
  const auto problemOf = [](const char* text) {
    const auto known = parseApplications(text, "k.yaml");
    return known.ok() ? "" : known.error().message;
  };
  EXPECT_THAT(problemOf("applications: [{tolerated: {llc: 5}}]"),
              HasSubstr("k.yaml:1:16: applications[0]: has no name"));
  EXPECT_THAT(problemOf("applications: [{application: a, caused: {l9: 5}}]"), HasSubstr("did you mean l2"));
  EXPECT_THAT(problemOf("applications: [{application: a, caused: {llc: 100}}]"), HasSubstr("from 0 to 99"));
  EXPECT_THAT(problemOf("applications: [{application: a, other: 1}]"), HasSubstr("other: unknown field"));
  EXPECT_THAT(problemOf("apps: []"), HasSubstr("applications: is missing"));
}

}  // namespace tarcil::profile_report_test
