#include "monitor/late/executor_processes.h"

#include <kj/debug.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "rpc/errors.h"
#include "rpc/token.h"

namespace tarcil {
namespace {

constexpr auto kGreetPatience = 5 * kj::SECONDS;
constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr size_t kPiece = 16 << 10;

// What tasks must have in common to run in one process.
std::string kindOf(const LateTask& task) {
  std::string kind = task.launch.user;
  const auto add = [&kind](const std::string& text) { kind.append(1, '\0').append(text); };
  add(task.launch.submitter);
  add(task.launch.workdir);
  const Limits& limits = task.launch.limits;
  add(std::to_string(limits.memoryBytes) + " " + std::to_string(limits.pids) + " " +
      std::to_string(limits.diskBytes));
  for (const std::string& word : task.executor) add(word);
  for (const auto& [name, value] : task.launch.env) add(name + "=" + value);
  return kind;
}

// Tasks of others never run beside theirs.
std::string ownerOf(const LaunchSpec& launch) {
  return std::string(launch.submitter).append(1, '\0').append(launch.user);
}

uid_t uidOfPeer(kj::AsyncIoStream& stream) {
  ucred peer{};
  kj::uint size = sizeof peer;
  stream.getsockopt(SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer.uid;
}

// What a task without a description is: its command, each word ended by a zero byte.
std::string whatOf(const LateTask& task) {
  if (task.description) return *task.description;
  std::string what;
  for (const std::string& word : task.launch.command) what.append(word).push_back('\0');
  return what;
}

kj::ArrayPtr<const kj::byte> bytesOfText(const std::string& text) {
  return kj::arrayPtr(reinterpret_cast<const kj::byte*>(text.data()), text.size());
}

}  // namespace

ExecutorProcesses::ExecutorProcesses(Net net, const Clock& clock, ExecutorHost& host, Options options)
    : net_(net),
      clock_(clock),
      host_(host),
      options_(std::move(options)),
      alarm_(net.timer, clock, [this]() { lookForIdle(); }),
      tasks_(*this) {}

ExecutorProcesses::~ExecutorProcesses() noexcept(false) {
  for (const auto& [owner, door] : doors_) ::unlink(door.socket.c_str());
}

// --- Tasks

void ExecutorProcesses::start(LateTask task) {
  std::string kind = kindOf(task);
  const auto idle = idleFor(kind, task.ru);
  if (idle == processes_.end()) return launch(std::move(task), std::move(kind));
  idle->second.lease = task.lease;
  send(idle->first, idle->second, taskFrame(task.lease, task.launch.task, task.launch.tasks, whatOf(task)));
}

std::map<AllocationId, ExecutorProcesses::Process>::iterator ExecutorProcesses::idleFor(
    const std::string& kind, RuIndex ru) {
  return std::find_if(processes_.begin(), processes_.end(), [&kind, ru](const auto& entry) {
    const Process& process = entry.second;
    return process.ru == ru && !process.lease && !process.isKilled && process.stream != nullptr &&
           process.kind == kind;
  });
}

// For one more process on the unit.
void ExecutorProcesses::makeRoom(RuIndex ru) {
  size_t there = 0;
  auto oldest = processes_.end();
  for (auto it = processes_.begin(); it != processes_.end(); ++it) {
    const Process& process = it->second;
    if (process.ru != ru || process.isKilled) continue;
    ++there;
    if (!process.lease && (oldest == processes_.end() || process.since < oldest->second.since)) oldest = it;
  }
  if (there >= options_.mostPerUnit && oldest != processes_.end()) kill(oldest->first, oldest->second);
}

void ExecutorProcesses::launch(LateTask task, std::string kind) {
  makeRoom(task.ru);
  const AllocationId allocation = task.lease;
  Process& process = processes_[allocation];
  process.owner = ownerOf(task.launch);
  process.kind = std::move(kind);
  process.ru = task.ru;
  process.key = makeToken();
  process.lease = task.lease;
  process.toSend = taskFrame(task.lease, task.launch.task, task.launch.tasks, whatOf(task));
  process.since = clock_.now().steady;
  LaunchSpec spec = std::move(task.launch);
  spec.allocation = allocation;
  spec.command = std::move(task.executor);
  spec.env["TARCIL_EXECUTOR_KEY"] = process.key;
  spec.rus = {task.ru};
  spec.timeout = {};
  alarm_.set(clock_.now().steady + kLookEvery);
  const std::string owner = process.owner;
  ++doors_[owner].processes;
  auto opened = openDoor(owner, spec.user);
  tasks_.add(opened
                 .then([this, owner, spec = std::move(spec)]() mutable {
                   const auto process = processes_.find(spec.allocation);
                   if (process == processes_.end()) return;
                   if (process->second.isKilled) return processEnded(spec.allocation, kCodeSignal + SIGKILL);
                   spec.env["TARCIL_EXECUTOR_SOCKET"] = doors_.at(owner).socket;
                   host_.startProcess(spec);
                 })
                 .catch_([this, allocation](kj::Exception&& why) {
                   KJ_LOG(ERROR, "an executor cannot be started", why.getDescription());
                   processEnded(allocation, kCodeNotStarted);
                 }));
}

kj::Promise<void> ExecutorProcesses::openDoor(const std::string& owner, const std::string& user) {
  Door& door = doors_.at(owner);
  if (!door.socket.empty()) return door.open.addBranch();
  const auto uid = host_.uidOf(user);
  if (!uid) return toException(notFound("user '" + user + "' does not exist on this server"));
  door.uid = *uid;
  door.socket = options_.folder + "/" + std::to_string(++lastDoor_) + ".sock";
  door.open = listenAt(net_.network, net_.io, "unix:" + door.socket)
                  .then([this, owner, socket = door.socket](Listener&& listener) {
                    const auto found = doors_.find(owner);
                    // Its processes are gone, and it with them; who came since has another.
                    if (found == doors_.end() || found->second.socket != socket) {
                      ::unlink(socket.c_str());
                      return;
                    }
                    Door& door = found->second;
                    KJ_SYSCALL(::chown(socket.c_str(), door.uid, static_cast<gid_t>(-1)));
                    door.receiver = kj::mv(listener.receiver);
                    door.accepting = accept(owner, door).eagerlyEvaluate([](kj::Exception&& exception) {
                      KJ_LOG(ERROR, "executors cannot connect any more", exception);
                    });
                  })
                  .fork();
  return door.open.addBranch();
}

void ExecutorProcesses::closeDoor(const std::string& owner) {
  const auto door = doors_.find(owner);
  if (--door->second.processes > 0) return;
  ::unlink(door->second.socket.c_str());
  doors_.erase(door);
}

void ExecutorProcesses::send(AllocationId allocation, Process& process, std::string frame) {
  auto& stream = *KJ_ASSERT_NONNULL(process.stream);
  auto held = kj::heap<std::string>(std::move(frame));
  const auto bytes = bytesOfText(*held);
  // The one before was read, or there would be no end of its task.
  process.writing = stream.write(bytes.begin(), bytes.size())
                        .attach(kj::mv(held))
                        .eagerlyEvaluate([this, allocation](kj::Exception&&) {
                          if (auto it = processes_.find(allocation); it != processes_.end())
                            kill(allocation, it->second);
                        });
}

void ExecutorProcesses::kill(late::SlotLeaseId lease) {
  for (auto& [allocation, process] : processes_) {
    if (process.lease == lease) kill(allocation, process);
  }
}

void ExecutorProcesses::kill(AllocationId allocation, Process& process) {
  if (std::exchange(process.isKilled, true)) return;
  host_.killProcess(allocation);
}

void ExecutorProcesses::keepTo(const RuSet& units) {
  for (auto& [allocation, process] : processes_) {
    if (!units.contains(process.ru)) kill(allocation, process);
  }
}

void ExecutorProcesses::processEnded(AllocationId allocation, int32_t code) {
  const auto ended = processes_.extract(allocation);
  if (!ended) return;
  closeDoor(ended.mapped().owner);
  if (!ended.mapped().lease) return;
  noteEnded(*ended.mapped().lease, allocation);
  host_.executorTaskEnded(*ended.mapped().lease, code);
}

void ExecutorProcesses::noteEnded(late::SlotLeaseId lease, AllocationId process) {
  if (lease == process) return;  // as processOf() says of it anyway
  endedIn_[lease] = process;
  ended_.push_back(lease);
  if (ended_.size() <= kMostEndedTasks) return;
  endedIn_.erase(ended_.front());
  ended_.pop_front();
}

AllocationId ExecutorProcesses::processOf(late::SlotLeaseId lease) const {
  for (const auto& [allocation, process] : processes_) {
    if (process.lease == lease) return allocation;
  }
  const auto ended = endedIn_.find(lease);
  return ended == endedIn_.end() ? lease : ended->second;
}

// --- Connections

kj::Promise<void> ExecutorProcesses::accept(const std::string& owner, Door& door) {
  return door.receiver->accept().then([this, owner, &door](kj::Own<kj::AsyncIoStream>&& stream) {
    if (uidOfPeer(*stream) == door.uid) tasks_.add(greet(owner, kj::mv(stream)));
    return accept(owner, door);
  });
}

// Until it has said which process it is.
kj::Promise<void> ExecutorProcesses::greet(const std::string& owner, kj::Own<kj::AsyncIoStream> stream) {
  struct Guest {
    kj::Own<kj::AsyncIoStream> stream;
    FrameReader frames;
    kj::byte piece[256];
  };
  auto guest = kj::heap<Guest>();
  guest->stream = kj::mv(stream);
  Guest& held = *guest;
  auto greeted = held.stream->tryRead(held.piece, 1, sizeof held.piece)
                     .then([this, owner, guest = kj::mv(guest)](size_t size) mutable -> kj::Promise<void> {
                       guest->frames.feed({reinterpret_cast<const char*>(guest->piece), size});
                       const auto hello = guest->frames.next();
                       if (!hello || hello->kind != 'H') return kj::READY_NOW;
                       for (auto& [allocation, process] : processes_) {
                         if (process.owner != owner || process.key != hello->body ||
                             process.stream != nullptr || process.isKilled)
                           continue;
                         process.stream = kj::mv(guest->stream);
                         process.frames = std::move(guest->frames);
                         send(allocation, process, std::exchange(process.toSend, {}));
                         tasks_.add(listen(allocation));
                         break;
                       }
                       return kj::READY_NOW;
                     });
  return greeted.exclusiveJoin(net_.timer.afterDelay(kGreetPatience));
}

kj::Promise<void> ExecutorProcesses::listen(AllocationId allocation) {
  const auto it = processes_.find(allocation);
  if (it == processes_.end()) return kj::READY_NOW;
  if (!takeFrames(allocation, it->second)) {
    kill(allocation, it->second);
    return kj::READY_NOW;
  }
  auto piece = kj::heapArray<kj::byte>(kPiece);
  auto& stream = *KJ_ASSERT_NONNULL(it->second.stream);
  auto read = stream.tryRead(piece.begin(), 1, piece.size());
  return read.then([this, allocation, piece = kj::mv(piece)](size_t size) -> kj::Promise<void> {
    const auto it = processes_.find(allocation);
    if (it == processes_.end()) return kj::READY_NOW;
    if (size == 0) {
      kill(allocation, it->second);
      return kj::READY_NOW;
    }
    it->second.frames.feed({reinterpret_cast<const char*>(piece.begin()), size});
    return listen(allocation);
  });
}

// Whether the process keeps to the protocol.
bool ExecutorProcesses::takeFrames(AllocationId allocation, Process& process) {
  while (const auto frame = process.frames.next()) {
    const auto end = frame->kind == 'E' ? readEnd(frame->body) : std::nullopt;
    if (!end || process.lease != end->number) return false;
    process.lease.reset();
    process.since = clock_.now().steady;
    noteEnded(end->number, allocation);
    // The next task may come in the meantime, and with it the next frame.
    host_.executorTaskEnded(end->number, end->code);
  }
  return !process.frames.isBroken();
}

void ExecutorProcesses::lookForIdle() {
  const MonotonicTime now = clock_.now().steady;
  for (auto& [allocation, process] : processes_) {
    const bool isIdle = !process.lease && now >= process.since + options_.idle;
    const bool isLate = process.stream == nullptr && now >= process.since + options_.patience;
    if (isIdle || isLate) kill(allocation, process);
  }
  if (!processes_.empty()) alarm_.set(now + kLookEvery);
}

void ExecutorProcesses::taskFailed(kj::Exception&& exception) {
  KJ_LOG(INFO, "a connection of an executor failed", exception);
}

}  // namespace tarcil
