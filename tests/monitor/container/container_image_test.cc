// Tasks in images: fetched by skopeo and umoci from layouts on this machine, good ones and bad ones.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>

#include "monitor/container/found_program.h"
#include "tests/monitor/container/container_fixture.h"
#include "tests/monitor/container/root_image.h"
#include "tests/support/image_layout.h"
#include "tests/support/process.h"

namespace tarcil::container_image_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// A layer with a shell and what it needs, as a program for tar makes it.
std::string shellLayer() {
  const TemporaryFolder folder;
  makeRootImage(folder.path() + "/root", {"sh", "cat", "ls", "stat", "sleep"});
  // Tasks have these whether an image does or not.
  for (const char* name : {"proc", "sys", "dev", "run", "tmp"}) fs::remove(folder.path() + "/root/" + name);
  return printedBy("tar -C " + folder.path() + "/root -c .");
}

class ContainerImageTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    if (findProgram("skopeo").empty() || findProgram("umoci").empty())
      GTEST_SKIP() << "needs skopeo and umoci";
    ::chmod(folder_.path().c_str(), 0755);
    options_ = optionsIn(folder_.path());
    options_.images.program = TARCIL_IMAGE;
    options_.images.skopeo = findProgram("skopeo");
    options_.images.umoci = findProgram("umoci");
    options_.images.allowedRoots = {at("/images")};
    fs::create_directories(at("/images"));
    layout_.emplace(at("/images/small"));
  }

  std::string at(const std::string& path) const { return folder_.path() + path; }
  std::string store() const { return options_.dataDirectory + "/images"; }
  std::vector<std::string> stored(const std::string& beginning = "") const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(store(), none)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(beginning)) names.push_back(name);
    }
    return names;
  }
  Containers& containers() {
    if (!containers_) containers_.emplace(options_);
    return *containers_;
  }
  void stopMonitor() { containers_.reset(); }

  ImageLayout& layout() { return *layout_; }
  // An image with a shell, a file and whatever else.
  std::string makeImage(const std::vector<LayerFile>& more = {}) {
    static const std::string kShell = shellLayer();
    layout().add(kShell);
    layout().add(layerOf({{"etc/marker", "image\n", 'f', 0644}}));
    if (!more.empty()) layout().add(layerOf(more));
    return layout().tag("v1");
  }

  LaunchSpec imaged(const std::string& text, const std::string& image = "") {
    LaunchSpec spec = script(++last_, text);
    spec.container.image = image.empty() ? "oci:" + layout().folder() + ":v1" : image;
    return spec;
  }
  std::string outputOf(const LaunchSpec& spec, const std::vector<InputFile>& files = {}) {
    const TaskEnd end = containers().run(spec, files);
    EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
    return containers().out(spec.allocation) + containers().err(spec.allocation);
  }
  // Of one that lies with the job, and leaves nothing.
  std::string problemOf(const LaunchSpec& spec) {
    const TaskEnd end = containers().run(spec);
    EXPECT_EQ(end.cause, EndCause::kNeverStarted);
    EXPECT_FALSE(serversFault(end)) << end.problem;
    EXPECT_THAT(end.problem, HasSubstr(spec.container.image)) << "names the image";
    EXPECT_THAT(stored("new-"), SizeIs(0));
    return end.problem;
  }
  // With one more layer of these.
  std::string problemOfLayer(const std::vector<LayerFile>& files) {
    layout_.emplace(at("/images/bad-" + std::to_string(++last_)));
    makeImage(files);
    const std::string problem = problemOf(imaged("true"));
    EXPECT_THAT(stored("sha256-"), SizeIs(0)) << "nothing of it is kept";
    return problem;
  }
  AllocationId last() const { return last_; }

  ContainerOptions options_;

 private:
  TemporaryFolder folder_;
  std::optional<ImageLayout> layout_;
  std::optional<Containers> containers_;
  AllocationId last_ = 0;
};

TEST_F(ContainerImageTest, ATaskSeesItsImageAndNothingOfTheHost) {
  const std::string digest = makeImage();
  EXPECT_EQ(outputOf(imaged("cat /etc/marker; ls /; ls /home 2>/dev/null; echo $?")),
            "image\nbin\ndev\netc\n" + std::string(fs::exists("/lib64") ? "lib\nlib64\n" : "lib\n") +
                "proc\nrun\nsys\ntmp\n2\n");
  EXPECT_THAT(stored("sha256-"), testing::ElementsAre("sha256-" + digest.substr(7)));
  EXPECT_THAT(stored(), SizeIs(1));
}

TEST_F(ContainerImageTest, NothingOfItCanBeChangedAndTheTaskIsItsUser) {
  makeImage({{"open/", "", 'd', 0777}, {"open/suid", "#!/bin/sh\n", 'f', 04777}});
  EXPECT_THAT(
      outputOf(imaged("echo x > /open/new; while read a b c; do [ $a = Uid: ] && echo $b; done < "
                      "/proc/self/status; echo y > made; cat made; pwd")),
      AllOf(HasSubstr("/open/new: Read-only file system"), HasSubstr("65534\ny\n/run/tarcil/work\n")));
}

TEST_F(ContainerImageTest, ItsOwnersSayNothingOutsideOfIt) {
  makeImage({{"etc/shadow", "x", 'f', 0600}});
  outputOf(imaged("true"));
  struct stat status {};
  ASSERT_EQ(::stat((store() + "/" + stored("sha256-")[0] + "/rootfs/etc/shadow").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, options_.images.uid);
  ASSERT_EQ(::stat((store() + "/" + stored("sha256-")[0]).c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 0u);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(ContainerImageTest, WhatTheJobDoesNotSayIsTheImages) {
  layout().config = {{"Entrypoint", {"/bin/sh", "-c"}},
                     {"Cmd", {"echo $A $B $HOME $TARCIL_TASK; pwd"}},
                     {"Env", {"A=image", "B=image", "HOME=/root", "TARCIL_TASK=9"}},
                     {"WorkingDir", "/srv/app"},
                     {"User", "root"}};
  makeImage();
  LaunchSpec spec = imaged("");
  spec.command.clear();
  spec.env["A"] = "job";
  EXPECT_EQ(outputOf(spec), "job image /nonexistent 0\n/srv/app\n");
  LaunchSpec files = imaged("cat input; pwd");
  files.hasFiles = true;
  EXPECT_EQ(outputOf(files, {{"input", 0644, "shipped\n"}}), "shipped\n/run/tarcil/work\n");
}

TEST_F(ContainerImageTest, WithoutAnyCommandIsRefused) {
  makeImage();
  LaunchSpec spec = imaged("");
  spec.command.clear();
  EXPECT_THAT(problemOf(spec), HasSubstr("neither the job nor its image"));
}

TEST_F(ContainerImageTest, AnArchiveIsOneToo) {
  makeImage();
  ASSERT_EQ(printedBy("cd " + at("/images") + " && tar -C small -cf small.tar . && echo made"), "made\n");
  EXPECT_EQ(outputOf(imaged("cat /etc/marker", "oci-archive:" + at("/images/small.tar") + ":v1")), "image\n");
}

TEST_F(ContainerImageTest, LayersAddReplaceAndRemove) {
  makeImage({{"etc/.wh.marker"}, {"etc/new", "new\n"}, {"data/a", "a"}});
  layout().add(layerOf({{"data/.wh..wh..opq"}, {"data/b", "b"}, {"etc/new", "newer\n"}}));
  layout().tag("v1");
  EXPECT_EQ(outputOf(imaged("cat /etc/new; ls /data; ls /etc")), "newer\nb\nnew\n");
}

TEST_F(ContainerImageTest, IsFetchedOnceForAllThatWait) {
  makeImage();
  std::ofstream(at("/calls")) << "";
  ::chmod(at("/calls").c_str(), 0666);
  std::ofstream(at("/counting")) << "#!/bin/sh\necho x >> " << at("/calls") << "\nexec "
                                 << options_.images.skopeo << " \"$@\"\n";
  ::chmod(at("/counting").c_str(), 0755);
  options_.images.skopeo = at("/counting");
  for (int i = 0; i < 3; ++i) containers().start(imaged("cat /etc/marker"));
  for (AllocationId task = 1; task <= 3; ++task) {
    EXPECT_EQ(containers().endOf(task).cause, EndCause::kExited);
    EXPECT_EQ(containers().out(task), "image\n");
  }
  EXPECT_EQ(textOf(at("/calls")), "x\nx\n") << "looked at, and copied";
  fs::remove_all(layout().folder());
  LaunchSpec again = imaged("cat /etc/marker");
  again.container.imageDigest = "sha256:" + stored("sha256-")[0].substr(7);
  EXPECT_EQ(outputOf(again), "image\n") << "from the store alone";
}

TEST_F(ContainerImageTest, OneThatIsThereIsNotFetchedAgainUnderAnotherName) {
  makeImage();
  outputOf(imaged("true"));
  const auto before = fs::last_write_time(store() + "/" + stored("sha256-")[0] + "/rootfs");
  layout().tag("v2");
  EXPECT_EQ(outputOf(imaged("cat /etc/marker", "oci:" + layout().folder() + ":v2")), "image\n");
  EXPECT_THAT(stored("sha256-"), SizeIs(1));
  EXPECT_EQ(fs::last_write_time(store() + "/" + stored("sha256-")[0] + "/rootfs"), before);
}

// --- Digests

TEST_F(ContainerImageTest, OfAnotherDigestThanTheJobsIsRefusedWithBoth) {
  const std::string first = makeImage();
  layout().add(layerOf({{"etc/marker", "moved\n"}}));
  const std::string second = layout().tag("v1");
  LaunchSpec kept = imaged("true");
  kept.container.imageDigest = first;
  EXPECT_THAT(problemOf(kept), AllOf(HasSubstr("is " + second), HasSubstr("the job's image is " + first)));
  EXPECT_THAT(problemOf(imaged("true", "oci:" + layout().folder() + ":v1@" + first)), HasSubstr(second));
  EXPECT_EQ(outputOf(imaged("cat /etc/marker", "oci:" + layout().folder() + ":v1@" + second)), "moved\n");
}

TEST_F(ContainerImageTest, IsToldToTheMonitor) {
  const std::string digest = makeImage();
  outputOf(imaged("true"));
  EXPECT_EQ(containers().images[1], digest);
}

// --- Bad input

TEST_F(ContainerImageTest, WithALayerOfAnotherContentIsRefused) {
  makeImage();
  std::fstream(layout().blob(layout().layers()[1]), std::ios::in | std::ios::out).write("other", 5);
  problemOf(imaged("true"));
  EXPECT_THAT(stored("sha256-"), SizeIs(0));
}

TEST_F(ContainerImageTest, ThatIsHalfWrittenIsRefused) {
  makeImage();
  fs::resize_file(layout().blob(layout().layers()[0]), 100'000);
  problemOf(imaged("true"));
  fs::remove(layout().blob(layout().layers()[0]));
  problemOf(imaged("true"));
  std::ofstream(layout().folder() + "/index.json") << "{\"schemaVersion\":2,\"manif";
  problemOf(imaged("true"));
  EXPECT_THAT(stored("sha256-"), SizeIs(0));
}

TEST_F(ContainerImageTest, WithEntriesThatLeadOutsideIsRefused) {
  EXPECT_THAT(problemOfLayer({{"../../escaped", "x"}}), HasSubstr("'../../escaped' that has .. in it"));
  EXPECT_THAT(problemOfLayer({{"/etc/escaped", "x"}}), HasSubstr("'/etc/escaped' that is absolute"));
  EXPECT_THAT(problemOfLayer({{"passwd", "../../../etc/passwd", 'h'}}), HasSubstr("is a link to"));
  EXPECT_THAT(problemOfLayer({{"etc/.wh..."}}), HasSubstr("removes what is no file of its folder"));
}

TEST_F(ContainerImageTest, WithDevicesIsRefused) {
  EXPECT_THAT(problemOfLayer({{"dev/sda", "", 'c'}}), HasSubstr("'dev/sda' that is a device"));
}

TEST_F(ContainerImageTest, ThatIsTooLargeIsRefused) {
  options_.images.mostBytes = 64 << 20;
  options_.images.mostEntries = 200;
  std::vector<LayerFile> many;
  for (int i = 0; i < 200; ++i) many.push_back({"many/" + std::to_string(i)});
  EXPECT_THAT(problemOfLayer(many), HasSubstr("has more than 200 files and folders"));
  // One that is small until it is unpacked.
  layout().add(layerOf({{"zeros", "", 'f', 0644, 65 << 20}}));
  const std::string bomb = "gzip -nc " + layout().blob(layout().layers().back());
  const std::string packed = printedBy(bomb);
  ASSERT_LT(packed.size(), 1u << 20);
  ImageLayout squeezed(at("/images/bomb"));
  squeezed.add(packed);
  squeezed.tag("v1");
  EXPECT_THAT(problemOf(imaged("true", "oci:" + squeezed.folder() + ":v1")),
              HasSubstr("takes more than 64MiB"));
}

TEST_F(ContainerImageTest, LinksInItLeadNowhereButIntoIt) {
  ::mkdir(at("/outside").c_str(), 0777);
  ::chmod(at("/outside").c_str(), 0777);
  layout().config = {{"WorkingDir", "/out/work"}};
  makeImage({{"out", at("/outside"), 's'},
             {"up", "../../../../../../.." + at("/outside"), 's'},
             {"out/a", "x"},
             {"up/b", "x"}});
  const TaskEnd end = containers().run(imaged("ls " + at("/outside")));
  EXPECT_TRUE(fs::is_empty(at("/outside"))) << end.problem;
  EXPECT_EQ(end.cause, EndCause::kExited) << end.problem;
  EXPECT_EQ(containers().out(last()), "a\nb\nwork\n") << "its own";
}

TEST_F(ContainerImageTest, OfAFolderThatTheOperatorDoesNotAllowIsRefused) {
  ImageLayout other(at("/elsewhere"));
  EXPECT_THAT(problemOf(imaged("true", "oci:" + at("/elsewhere"))), HasSubstr("--allow-rootfs"));
  fs::create_directory_symlink(at("/elsewhere"), at("/images/link"));
  EXPECT_THAT(problemOf(imaged("true", "oci:" + at("/images/link"))), HasSubstr("--allow-rootfs"));
  EXPECT_THAT(problemOf(imaged("true", "oci-archive:" + at("/elsewhere/a.tar"))),
              HasSubstr("cannot be found"));
}

TEST_F(ContainerImageTest, ThatItsUserMayNotReadIsRefused) {
  makeImage();
  ::chmod(layout().folder().c_str(), 0700);
  EXPECT_THAT(problemOf(imaged("true")), HasSubstr("permission denied"));
}

TEST_F(ContainerImageTest, WithoutItsProgramsIsRefusedWithWhatToInstall) {
  makeImage();
  options_.images.umoci.clear();
  const TaskEnd end = containers().run(imaged("true"));
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_THAT(end.problem, HasSubstr("Debian packages skopeo and umoci"));
}

TEST_F(ContainerImageTest, ThatTakesTooLongIsGivenUp) {
  makeImage();
  std::ofstream(at("/slow")) << "#!/bin/sh\nsleep 1000\n";
  ::chmod(at("/slow").c_str(), 0755);
  options_.images.skopeo = at("/slow");
  options_.images.timeout = std::chrono::milliseconds(50);
  EXPECT_THAT(problemOf(imaged("true")), HasSubstr("was not there after 50ms"));
}

TEST_F(ContainerImageTest, ATaskThatIsStoppedMeanwhileEnds) {
  makeImage();
  std::ofstream(at("/slow")) << "#!/bin/sh\nsleep 1000\n";
  ::chmod(at("/slow").c_str(), 0755);
  options_.images.skopeo = at("/slow");
  containers().start(imaged("true"));
  containers().executor().signal(1, SIGTERM);
  const TaskEnd end = containers().endOf(1);
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_EQ(end.problem, "stopped while its image was fetched");
}

// --- What stays

TEST_F(ContainerImageTest, AMonitorThatIsKilledMeanwhileLeavesNothingHalf) {
  makeImage();
  std::ofstream(at("/slow")) << "#!/bin/sh\ntouch begun\nexec sleep 1000\n";
  ::chmod(at("/slow").c_str(), 0755);
  const std::string skopeo = options_.images.skopeo;
  options_.images.skopeo = at("/slow");
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const LaunchSpec spec = imaged("cat /etc/marker");
  const pid_t monitor = ::fork();
  if (monitor == 0) {
    Containers dying(options_);
    dying.start(spec);
    while (stored("new-").empty() || !fs::exists(store() + "/" + stored("new-")[0] + "/begun"))
      dying.wait(kj::MILLISECONDS);
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::kill(monitor, SIGKILL);
  ::waitpid(monitor, nullptr, 0);
  EXPECT_THAT(stored("new-"), SizeIs(1));

  options_.images.skopeo = skopeo;
  const auto tasks = containers().executor().recover();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].state, RecoveredTask::State::kNeverStarted);
  containers().executor().start(tasks[0].spec, {}, {});
  EXPECT_EQ(containers().endOf(1).cause, EndCause::kExited) << containers().ended[1].problem;
  EXPECT_EQ(containers().out(1), "image\n");
  while (stored().size() > 1) containers().wait(kj::MILLISECONDS);
}

TEST_F(ContainerImageTest, GoesWhenNobodyHasUsedItForLong) {
  makeImage();
  outputOf(imaged("true"));
  stopMonitor();
  options_.images.keep.age = std::chrono::milliseconds(1);
  containers().executor().recover();
  while (!stored().empty()) containers().wait(kj::MILLISECONDS);
}

TEST_F(ContainerImageTest, StaysWhileATaskRunsInItAcrossAMonitorToo) {
  const std::string digest = makeImage();
  options_.images.keep.age = std::chrono::milliseconds(1);
  options_.images.keep.bytes = uint64_t{1} << 40;
  containers().start(
      imaged("while [ ! -e " + std::string("go") + " ]; do sleep 0.01; done; cat /etc/marker"));
  containers().untilStarted(1);
  stopMonitor();
  const auto tasks = containers().executor().recover();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].state, RecoveredTask::State::kRunning);
  EXPECT_EQ(tasks[0].spec.container.imageDigest, digest);
  EXPECT_THAT(stored("sha256-"), SizeIs(1));
  std::ofstream(options_.dataDirectory + "/tasks/1/work/go") << "\n";
  EXPECT_EQ(containers().endOf(1).exitCode, 0);
  EXPECT_EQ(containers().out(1), "image\n");
}

TEST_F(ContainerImageTest, MakesRoomForTheNextOne) {
  makeImage();
  outputOf(imaged("true"));
  stopMonitor();
  options_.images.keep.bytes = 1;  // less than any
  ImageLayout second(at("/images/second"));
  second.add(shellLayer());
  second.tag("v1");
  containers().executor().recover();
  EXPECT_EQ(outputOf(imaged("echo second", "oci:" + second.folder() + ":v1")), "second\n");
  EXPECT_THAT(stored("sha256-"), SizeIs(1));
}

TEST_F(ContainerImageTest, IsNotBegunWhereThoseInUseTakeAllRoom) {
  makeImage();
  options_.images.keep.bytes = 1;
  containers().start(imaged("sleep 1000"));
  containers().untilStarted(1);
  ImageLayout second(at("/images/second"));
  second.add(shellLayer());
  second.tag("v1");
  const TaskEnd end = containers().run(imaged("true", "oci:" + second.folder() + ":v1"));
  EXPECT_EQ(end.cause, EndCause::kNeverStarted);
  EXPECT_TRUE(serversFault(end)) << "it may start elsewhere";
  EXPECT_THAT(end.problem, HasSubstr("there is no room for it"));
  containers().executor().signal(1, SIGKILL);
  containers().endOf(1);
}

}  // namespace tarcil::container_image_test
