// References of images, and what a task takes from an image's configuration.
#include "core/model/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/model/image_config.h"
#include "core/model/job_check.h"

namespace tarcil::image_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Transport = ImageReference::Transport;

const std::string kDigest = "sha256:" + std::string(64, 'a');

ImageReference parsed(const std::string& text) {
  const auto reference = parseImage(text);
  EXPECT_TRUE(reference.ok()) << text << ": " << (reference.ok() ? "" : reference.error().message);
  return reference.ok() ? *reference : ImageReference{};
}

std::string problemOf(std::string_view text) {
  const auto reference = parseImage(text);
  return reference.ok() ? "" : reference.error().message;
}

TEST(Image, IsNamedByWhereItIsAndWhichOneOfThose) {
  EXPECT_EQ(parsed("oci:/srv/images/a"), (ImageReference{Transport::kOci, "/srv/images/a", "", ""}));
  EXPECT_EQ(parsed("oci-archive:/srv/a.tar:v1"),
            (ImageReference{Transport::kOciArchive, "/srv/a.tar", "v1", ""}));
  EXPECT_EQ(parsed("docker://debian"), (ImageReference{Transport::kDocker, "debian", "", ""}));
  EXPECT_EQ(parsed("docker://localhost:5000/a/b_c.d:V1.2-x@" + kDigest),
            (ImageReference{Transport::kDocker, "localhost:5000/a/b_c.d", "V1.2-x", kDigest}));
  EXPECT_EQ(parsed("oci:/a@" + kDigest), (ImageReference{Transport::kOci, "/a", "", kDigest}));
}

TEST(Image, IsRefusedWithWhatToWriteInstead) {
  EXPECT_THAT(problemOf("debian"), HasSubstr("none of the beginnings that say where it is; write oci:/PATH"));
  for (const char* text : {"", "docker://", "docker://A", "docker://a//b", "docker://-a", "docker://a/b-",
                           "docker://:5000/a", "docker://h:x/a", "docker://h:123456/a", "docker://a b"}) {
    EXPECT_NE(problemOf(text), "") << text;
  }
  for (const char* text : {"oci:a", "oci:/", "oci:/a/", "oci:/a/../b", "oci:/a/..", "oci:/a\nb"}) {
    EXPECT_THAT(problemOf(text), HasSubstr("has ")) << text;
  }
  EXPECT_THAT(problemOf("oci:/a:b/c"), HasSubstr("or has .. or a colon in it"));
  for (const char* tag : {"", ".x", "-x", "a b", "a:b"}) {
    EXPECT_THAT(problemOf(std::string("docker://a:") + tag), HasSubstr("a tag that is none")) << tag;
  }
  EXPECT_THAT(problemOf("docker://a:" + std::string(129, 'x')), HasSubstr("a tag that is none"));
  for (const std::string& digest : {std::string("sha256:"), kDigest + "a", "sha256:" + std::string(64, 'A'),
                                    "md5:" + std::string(64, 'a'), kDigest + "@" + kDigest}) {
    EXPECT_THAT(problemOf("docker://a@" + digest), HasSubstr("a digest that is not sha256:")) << digest;
  }
  EXPECT_THAT(problemOf("oci:/" + std::string(5'000, 'x')), HasSubstr("more than 4095 characters"));
  EXPECT_THAT(problemOf("docker://" + std::string(256, 'x')), HasSubstr("a name that is none"));
}

TEST(Image, IsReadFromARegistryByDigestAndElsewhereByTag) {
  EXPECT_EQ(sourceOf(parsed("docker://a:v1"), ""), "docker://a:v1");
  EXPECT_EQ(sourceOf(parsed("docker://a:v1"), kDigest), "docker://a@" + kDigest);
  EXPECT_EQ(sourceOf(parsed("oci:/a:v1@" + kDigest), kDigest), "oci:/a:v1");
}

RC_GTEST_PROP(Image, IsReadAgainAsItWasWritten, ()) {
  const auto letter = rc::gen::element('a', 'Z', '0', '.', '-', '_', ':', '/', '@', ' ');
  const auto beginning =
      *rc::gen::element<std::string>("oci:/", "oci-archive:/", "docker://", "docker://h:1/");
  const auto end = *rc::gen::element<std::string>("", ":v1", "@" + kDigest, ":v1@" + kDigest);
  const auto reference = parseImage(beginning + *rc::gen::container<std::string>(letter) + end);
  if (!reference.ok()) return;
  const auto again = parseImage(toString(*reference));
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == *reference);
}

JobSpec withImage(std::string image) {
  JobSpec job;
  job.container.image = std::move(image);
  return job;
}
std::string problemOf(const JobSpec& job) {
  const Status checked = checkJob(job, false);
  return checked.ok() ? "" : checked.error().message;
}

TEST(JobWithImage, NeedsNoCommand) {
  EXPECT_EQ(problemOf(withImage("docker://debian")), "");
  JobSpec job = withImage("docker://debian");
  job.command = {""};
  EXPECT_THAT(problemOf(job), HasSubstr("command: is missing"));
}

TEST(JobWithImage, IsRefusedWithItsField) {
  EXPECT_THAT(problemOf(withImage("debian")),
              testing::StartsWith("container.image: has none of the beginnings that say where it is"));
  JobSpec job = withImage("docker://debian");
  job.container.rootfs = "/srv/x";
  EXPECT_THAT(problemOf(job), HasSubstr("container.image: names files of the task, and so does rootfs"));
  job = withImage("docker://debian");
  job.container.bundle = "/srv/x";
  EXPECT_THAT(problemOf(job), HasSubstr("so does bundle"));
  job = withImage("docker://debian");
  job.container.imageDigest = "sha256:x";
  EXPECT_THAT(problemOf(job), HasSubstr("container.image: is kept to a digest that is none"));
  job.container.imageDigest = kDigest;
  EXPECT_EQ(problemOf(job), "");
}

TEST(ImageConfig, IsReadAsItWasWritten) {
  const ImageConfig config{{"/bin/sh", "-c", ""}, {{"A", ""}, {"PATH", "/x=y"}}, "/app"};
  const auto read = decodeImageConfig(encodeImageConfig(config));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, config);
  EXPECT_EQ(*decodeImageConfig(""), ImageConfig{});
}

RC_GTEST_PROP(ImageConfig, OfAnyBytesIsReadOrRefused, ()) {
  const auto letter = rc::gen::element('c', 'e', 'w', '=', '/', '\0', 'x');
  const auto read = decodeImageConfig(*rc::gen::container<std::string>(letter));
  if (!read.ok()) return;
  RC_ASSERT(*decodeImageConfig(encodeImageConfig(*read)) == *read);
}

TEST(ImageConfig, IsBelowWhatTheJobSays) {
  const ImageConfig config{
      {"/serve", "--all"},
      {{"A", "image"}, {"B", "image"}, {"HOME", "/root"}, {"TARCIL_TASK", "9"}, {"PATH", "/opt/bin"}},
      "/app"};
  TaskSpec task;
  task.env = {{"A", "job"}};
  ASSERT_TRUE(addImageConfig(config, false, task).ok());
  EXPECT_THAT(task.command, ElementsAre("/serve", "--all"));
  EXPECT_THAT(task.env, ElementsAre(Pair("A", "job"), Pair("B", "image"), Pair("PATH", "/opt/bin")));
  EXPECT_EQ(task.workdir, "/app");

  TaskSpec other;
  other.command = {"ls"};
  other.workdir = "/srv";
  ASSERT_TRUE(addImageConfig(config, false, other).ok());
  EXPECT_THAT(other.command, ElementsAre("ls")) << "its arguments are the image's program's";
  EXPECT_EQ(other.workdir, "/srv");
}

TEST(ImageConfig, LeavesThePrivateFolderWhereFilesAre) {
  TaskSpec task;
  ASSERT_TRUE(addImageConfig({{"x"}, {}, "/app"}, true, task).ok());
  EXPECT_EQ(task.workdir, "");
  ASSERT_TRUE(addImageConfig({{"x"}, {}, "/"}, false, task).ok());
  EXPECT_EQ(task.workdir, "") << "the root is where an image says nothing";
}

TEST(ImageConfig, IsRefusedWhereNoProgramOrTooMuchComesOfIt) {
  TaskSpec none;
  none.container.image = "docker://empty";
  EXPECT_THAT(addImageConfig({}, false, none).error().message,
              HasSubstr("neither the job nor its image docker://empty names a program"));
  TaskSpec task;
  EXPECT_THAT(addImageConfig({{"x"}, {{"A", std::string(kMaxCommandAndEnvBytes, 'x')}}, ""}, false, task)
                  .error()
                  .message,
              HasSubstr("at most 128KiB are passed on"));
}

}  // namespace tarcil::image_test
