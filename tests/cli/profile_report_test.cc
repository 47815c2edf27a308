// Profiles, calibrations and known applications as files.
#include "cli/profile_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/calibration_file.h"
#include "cli/known_applications.h"
#include "cli/profile_file.h"
#include "tests/cli/scratch_folder.h"

namespace tarcil {
namespace {

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
  report.completed.profile.caused[kBandwidth] = 30;
  report.completed.caused[kBandwidth] = {Origin::kInferred, 7.6};
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
}

TEST(ProfileReport, OfNothingIsStillAProfile) {
  const auto profile = parseProfile(yamlOf({}), "p.yaml");
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
  calibration[Resource::kLlc] = {std::nullopt, 5e9, {{10, 10}, {99, 91.5}}, std::nullopt, {{50, 0.25}}};
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

}  // namespace
}  // namespace tarcil
