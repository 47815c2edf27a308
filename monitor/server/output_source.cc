#include "monitor/server/output_source.h"

#include <errno.h>
#include <kj/debug.h>
#include <kj/io.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "env/stop.h"
#include "rpc/wait_list.h"

namespace tarcil {
namespace {

class FileOutput final : public OutputSource {
 public:
  FileOutput(std::string folder, kj::UnixEventPort& port)
      : folder_(std::move(folder)),
        inotify_(openInotify()),
        observer_(port, inotify_.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ),
        watching_(watch().eagerlyEvaluate(stopsIfFailed("watching the output of tasks"))) {}

  Result<OutputPart> read(AllocationId allocation, Stream stream, uint64_t offset, size_t most) override {
    return readOutput(folder_, allocation, stream, offset, most);
  }

  void taken(AllocationId allocation, Stream stream, uint64_t offset) override {
    tellTaken(folder_, allocation, stream, offset);
  }

  // The watch is set when a reader comes and goes with the first news: a reader that wants more asks again.
  // The folder is watched rather than the file, which comes with the first byte.
  kj::Promise<void> grown(AllocationId allocation) override {
    const std::string task = folder_ + "/tasks/" + std::to_string(allocation);
    const int watch = ::inotify_add_watch(inotify_.get(), task.c_str(), IN_MODIFY | IN_CREATE | IN_ONESHOT);
    if (watch < 0) return kj::NEVER_DONE;  // it has just ended
    return news_.wait(watch);
  }

  Result<ResultsPage> results(AllocationId allocation, const std::string& after) override {
    return listResults(folder_, allocation, after);
  }
  Result<std::string> readResult(AllocationId allocation, const std::string& path, uint64_t offset,
                                 size_t most) override {
    return tarcil::readResult(folder_, allocation, path, offset, most);
  }

 private:
  static kj::AutoCloseFd openInotify() {
    const int fd = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0) KJ_FAIL_SYSCALL("inotify_init1", errno);
    return kj::AutoCloseFd(fd);
  }

  kj::Promise<void> watch() {
    return observer_.whenBecomesReadable().then([this]() {
      alignas(inotify_event) char buffer[4096];
      ssize_t size;
      while ((size = ::read(inotify_.get(), buffer, sizeof buffer)) > 0) {
        for (ssize_t at = 0; at < size;) {
          const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
          news_.happened(event->wd);
          at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
      }
      return watch();
    });
  }

  const std::string folder_;
  const kj::AutoCloseFd inotify_;
  kj::UnixEventPort::FdObserver observer_;
  WaitList<int> news_;  // by watch
  kj::Promise<void> watching_;
};

class NoOutput final : public OutputSource {
 public:
  Result<OutputPart> read(AllocationId, Stream, uint64_t offset, size_t) override {
    return OutputPart{offset, {}};
  }
  void taken(AllocationId, Stream, uint64_t) override {}
  kj::Promise<void> grown(AllocationId) override { return kj::NEVER_DONE; }
  Result<ResultsPage> results(AllocationId, const std::string&) override { return noFiles(); }
  Result<std::string> readResult(AllocationId, const std::string&, uint64_t, size_t) override {
    return noFiles();
  }

 private:
  static Error noFiles() {
    return invalid("the task's server is emulated: it runs no commands, and keeps no files");
  }
};

}  // namespace

std::unique_ptr<OutputSource> fileOutput(std::string dataFolder, kj::UnixEventPort& port) {
  return std::make_unique<FileOutput>(std::move(dataFolder), port);
}

std::unique_ptr<OutputSource> noOutput() {
  return std::make_unique<NoOutput>();
}

}  // namespace tarcil
