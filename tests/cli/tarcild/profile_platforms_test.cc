#include "cli/tarcild/profile_platforms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/profile_file.h"

namespace tarcil::profile_platforms_test {

using testing::HasSubstr;

// Of a command that ran 8 times a second where all of it was measured.
ProfileForms someForms() {
  ProfileReport report;
  report.application = "sort";
  report.unit = "runs per second";
  report.findings.alone.performance = 8;
  report.completed.profile.origins = ProfileOrigins::all(Origin::kAssumed);
  report.completed.profile.caused[0] = 50;
  report.completed.profile.origins.caused[0] = {Origin::kMeasured};
  report.completed.caused[0] = {Origin::kMeasured, 0};
  return {jsonOf(report), textOf(report), yamlOf(report)};
}

const std::vector<PlatformRun> kRuns = {{"new", "s1", 8}, {"old", "s2", 2.5}};

// With one platform where it was not measured.
std::map<std::string, CompletedPlatform> threePlatforms() {
  return {{"new", {Origin::kMeasured, 1, 0}},
          {"old", {Origin::kMeasured, 0.3125, 0}},
          {"wide", {Origin::kInferred, 0.70049, 0.0512}}};
}

TEST(ProfilePlatforms, AreInTheFileWithTheirOrigins) {
  ProfileForms forms = someForms();
  const Profile before = parseProfile(forms.yaml, "p").value();
  addPlatforms(forms, kRuns, threePlatforms());
  const auto profile = parseProfile(forms.yaml, "p");
  ASSERT_TRUE(profile.ok()) << profile.error().message << "\n" << forms.yaml;
  EXPECT_EQ(profile->platforms, (std::map<std::string, double>{{"new", 1}, {"old", 0.313}, {"wide", 0.7}}));
  EXPECT_EQ(profile->origins.ofPlatform("old"), EntryOrigin{Origin::kMeasured});
  EXPECT_EQ(profile->origins.ofPlatform("wide"), (EntryOrigin{Origin::kInferred, 5}));
  EXPECT_EQ(profile->origins.caused, before.origins.caused);
  EXPECT_EQ(profile->caused, before.caused);
  EXPECT_THAT(forms.yaml, HasSubstr("  \"wide\": 0.7  # inferred +-0.05\n"));
}

TEST(ProfilePlatforms, SayWhereTheyWereMeasured) {
  ProfileForms forms = someForms();
  addPlatforms(forms, kRuns, threePlatforms());
  EXPECT_THAT(forms.text, HasSubstr("old       0.313        measured on s2: 2.5000 runs per second\n"));
  EXPECT_THAT(forms.text, HasSubstr("wide      0.700        inferred +-0.05\n"));
  EXPECT_EQ(forms.json["platforms"], (Json{{"new", 1.0}, {"old", 0.313}, {"wide", 0.7}}));
  EXPECT_EQ(forms.json["platform_entries"][1], (Json{{"platform", "old"},
                                                     {"value", 0.313},
                                                     {"origin", "measured"},
                                                     {"expected_error", nullptr},
                                                     {"server", "s2"},
                                                     {"performance", 2.5}}));
  EXPECT_EQ(forms.json["platform_entries"][2],
            (Json{{"platform", "wide"}, {"value", 0.7}, {"origin", "inferred"}, {"expected_error", 0.0512}}));
}

TEST(ProfilePlatforms, ChangeNoProfileOfASinglePlatform) {
  ProfileForms forms = someForms();
  const ProfileForms before = forms;
  addPlatforms(forms, {{kRuns.front()}}, {{"new", {Origin::kMeasured, 1, 0}}});
  EXPECT_EQ(forms.yaml, before.yaml);
  EXPECT_EQ(forms.text, before.text);
  EXPECT_EQ(forms.json["platforms"], (Json{{"new", 1.0}}));
}

TEST(ProfilePlatforms, AreNeverWithoutPerformance) {
  ProfileForms forms = someForms();
  addPlatforms(forms, {}, {{"new", {Origin::kMeasured, 1, 0}}, {"slow", {Origin::kInferred, 1e-5, 3}}});
  const auto profile = parseProfile(forms.yaml, "p");
  ASSERT_TRUE(profile.ok()) << profile.error().message << "\n" << forms.yaml;
  EXPECT_EQ(profile->platforms.at("slow"), 0.001);
  EXPECT_EQ(profile->origins.ofPlatform("slow"), (EntryOrigin{Origin::kInferred, 99}));
}

TEST(ProfilePlatforms, AreThoseOfTheClusterAlone) {
  PartialProfile known;
  known.platforms = {{"new", 1}, {"old", 0.5}, {"gone", 0.1}};
  const auto speeds = speedsOn({"new", "old", "wide"}, {{known}});
  ASSERT_EQ(speeds.size(), 1u);
  EXPECT_EQ(speeds[0], (PlatformSpeeds{{"new", 1}, {"old", 0.5}}));
  EXPECT_EQ(speedsOf(kRuns), (PlatformSpeeds{{"new", 8}, {"old", 2.5}}));
}

}  // namespace tarcil::profile_platforms_test
