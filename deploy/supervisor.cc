#include "deploy/supervisor.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <kj/io.h>
#include <kj/vector.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "rpc/errors.h"

extern char** environ;

namespace tarcil {
namespace {

constexpr kj::Duration kRestartPause = 50 * kj::MILLISECONDS;
constexpr kj::Duration kMaxPause = 5 * kj::SECONDS;
// A process that lived this long is started again without a pause.
constexpr auto kHealthy = 1 * kj::SECONDS;
// Descriptor that a role gets its end of the ready pipe at.
constexpr int kReadyFd = 3;

std::string lastLines(const std::string& file, size_t count) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string text;
  for (size_t i = lines.size() - std::min(count, lines.size()); i < lines.size(); ++i)
    text += "\n  " + lines[i];
  return text;
}

std::string describeStatus(int status) {
  if (WIFSIGNALED(status))
    return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) +
           ")";
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

// Nothing of this process is inherited but the environment: signals are reset, stdin is /dev/null, output
// goes to the log.
pid_t spawn(const std::string& program, const RoleCommand& command, int readyFd) {
  std::vector<std::string> arguments = command.arguments;
  const bool isForeign = !command.program.empty();
  arguments.insert(arguments.begin(), isForeign ? command.program : program);
  // What roles do by themselves: it does not outlive the supervisor.
  if (isForeign) arguments.insert(arguments.begin(), {"setpriv", "--pdeathsig", "TERM", "--"});
  if (!command.networkNamespace.empty()) {
    arguments.insert(arguments.begin(), {"nsenter", "--net=" + command.networkNamespace, "--"});
  }
  if (!isForeign) arguments.insert(arguments.end(), {"--supervised", "--ready-fd", std::to_string(kReadyFd)});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_adddup2(&files, readyFd, kReadyFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A group of its own: Ctrl-C on the terminal is for the supervisor, which stops the roles in order.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv.front(), &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) KJ_FAIL_SYSCALL("posix_spawn", error, command.name.c_str());
  return pid;
}

}  // namespace

Supervisor::Supervisor(kj::UnixEventPort& port, kj::LowLevelAsyncIoProvider& io, kj::Timer& timer,
                       std::string program, std::function<void(const std::string&)> report)
    : port_(port),
      io_(io),
      timer_(timer),
      program_(std::move(program)),
      report_(std::move(report)),
      tasks_(*this) {}

kj::Promise<void> Supervisor::start(std::vector<std::vector<RoleCommand>> stages) {
  return startStage(std::move(stages), 0).then([this]() { up_ = true; });
}

kj::Promise<void> Supervisor::startStage(std::vector<std::vector<RoleCommand>> stages, size_t number) {
  if (number == stages.size()) return kj::READY_NOW;
  kj::Vector<kj::Promise<void>> ready;
  for (RoleCommand& command : stages[number]) {
    Role& role = roles_[command.name];
    role.command = command;
    if (command.diskProcess != 0) tasks_.add(watchDisk(role));
    ready.add(startRole(role));
  }
  return kj::joinPromises(ready.releaseAsArray()).then([this, stages = std::move(stages), number]() mutable {
    return startStage(std::move(stages), number + 1);
  });
}

// Resolves when the role is ready.
kj::Promise<void> Supervisor::startRole(Role& role) {
  int ends[2];
  KJ_SYSCALL(::pipe2(ends, O_CLOEXEC));
  kj::AutoCloseFd readEnd(ends[0]), writeEnd(ends[1]);
  role.pid = spawn(program_, role.command, writeEnd.get());
  role.started = timer_.now();
  tasks_.add(supervise(role));
  if (!role.command.program.empty()) return kj::READY_NOW;
  auto stream = io_.wrapInputFd(kj::mv(readEnd), kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC);
  auto text = stream->readAllText();
  return text.attach(kj::mv(stream)).then([&role](kj::String&& said) {
    if (said == "ready\n") return;
    kj::throwFatalException(toException(
        {ErrorCode::kInternal, role.command.name + " did not start:" + lastLines(role.command.log, 3)}));
  });
}

kj::Promise<void> Supervisor::supervise(Role& role) {
  return port_.onChildExit(role.pid).then([this, &role](int status) { exited(role, status); });
}

// Nothing that its tasks write would be kept: they are to go elsewhere.
kj::Promise<void> Supervisor::watchDisk(Role& role) {
  kj::AutoCloseFd process(static_cast<int>(::syscall(SYS_pidfd_open, role.command.diskProcess, 0)));
  if (process.get() < 0) KJ_FAIL_SYSCALL("pidfd_open", errno, role.command.diskProcess);
  auto observer =
      kj::heap<kj::UnixEventPort::FdObserver>(port_, process, kj::UnixEventPort::FdObserver::OBSERVE_READ);
  auto ended = observer->whenBecomesReadable();
  return ended.attach(kj::mv(observer)).attach(kj::mv(process)).then([this, &role]() {
    if (stopping_) return;
    role.hasLostDisk = true;
    report_(
        role.command.name +
        ": its disk has failed, for tarcil-limited-disk has ended; it is stopped with its tasks, which go "
        "elsewhere, until the cluster is started again");
    KJ_IF_MAYBE (pid, role.pid) {
      ::kill(*pid, SIGTERM);
    }
  });
}

void Supervisor::exited(Role& role, int status) {
  role.pid = nullptr;
  if (role.ended.get() != nullptr) role.ended->fulfill();
  if (stopping_ || !up_ || role.hasLostDisk) return;
  report_(role.command.name + " " + describeStatus(status) +
          "; starting it again (its log: " + role.command.log + ")");
  startAgain(role);
}

// The first time at once; a process that does not live long is given growing pauses.
void Supervisor::startAgain(Role& role) {
  if (timer_.now() - role.started > kHealthy) role.restarts = 0;
  const kj::Duration grown = kRestartPause * (int64_t{1} << std::min(role.restarts, 10));
  const kj::Duration pause = role.restarts == 0 ? kj::Duration(0 * kj::SECONDS) : std::min(grown, kMaxPause);
  ++role.restarts;
  tasks_.add(timer_.afterDelay(pause).then([this, &role]() -> kj::Promise<void> {
    if (stopping_ || role.hasLostDisk) return kj::READY_NOW;
    return startRole(role).then([this, &role]() { report_(role.command.name + " is back"); });
  }));
}

std::vector<RunningRole> Supervisor::roles() const {
  std::vector<RunningRole> running;
  for (const auto& [name, role] : roles_) {
    KJ_IF_MAYBE (pid, role.pid) {
      running.push_back({role.command, *pid});
    }
  }
  return running;
}

void Supervisor::hangUp() const {
  for (const bool isMaster : {true, false}) {
    for (const RunningRole& running : roles()) {
      const bool reads = running.command.program.empty();
      if (reads && (running.command.role == "master") == isMaster) ::kill(running.pid, SIGHUP);
    }
  }
}

kj::Promise<void> Supervisor::stop(kj::Duration grace) {
  stopping_ = true;
  return stopAll("gateway", kStopPatience)
      .then([this]() { return stopAll("agent", kStopPatience); })
      .then([this, grace]() { return stopAll("monitor", kStopPatience + grace); })
      .then([this]() { return stopAll("master", kStopPatience); })
      .then([this]() { return stopAll("etcd", kStopPatience); });
}

kj::Promise<void> Supervisor::stopAll(const std::string& kind, kj::Duration patience) {
  kj::Vector<kj::Promise<void>> ends;
  for (auto& [name, role] : roles_) {
    if (role.command.role != kind) continue;
    KJ_IF_MAYBE (pid, role.pid) {
      auto paf = kj::newPromiseAndFulfiller<void>();
      role.ended = kj::mv(paf.fulfiller);
      ends.add(kj::mv(paf.promise));
      ::kill(*pid, SIGTERM);
    }
  }
  auto tooLate = timer_.afterDelay(patience).then([this, kind]() {
    for (auto& [name, role] : roles_) {
      KJ_IF_MAYBE (pid, role.pid) {
        if (role.command.role == kind) ::kill(*pid, SIGKILL);
      }
    }
    return kj::Promise<void>(kj::NEVER_DONE);
  });
  return kj::joinPromises(ends.releaseAsArray()).exclusiveJoin(kj::mv(tooLate));
}

// A role that could not be started again has ended, and exited() has taken care of it.
void Supervisor::taskFailed(kj::Exception&& exception) {
  report_(fromException(exception).message);
}

}  // namespace tarcil
