// tarcil up: a whole cluster on this machine.
#include <fcntl.h>
#include <kj/debug.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/cluster.h"
#include "cli/command_line.h"
#include "cli/option_table.h"
#include "cli/output/output.h"
#include "cli/tarcild/commands.h"
#include "client/client.h"
#include "client/page_address.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "deploy/local_cluster.h"
#include "deploy/roles/roles.h"
#include "deploy/slices/slice_disk.h"
#include "deploy/slices/slice_network.h"
#include "deploy/supervisor.h"
#include "env/machine.h"
#include "env/oom_score.h"
#include "env/stop.h"
#include "formats/extras_field.h"
#include "formats/servers_file.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct UpFlags {
  LocalClusterPlan plan;
  std::string data;
  std::vector<std::string> allowedRoots, insecureRegistries, shares, extras;
  bool hostView = false;
  std::vector<uint32_t> cores;
  std::string networkBandwidth, memoryBandwidth, stopGrace;
  uint32_t slices = 0;
  std::string sliceMemory, sliceDisk, diskBandwidth;
  std::string users = "mine";
  bool noPage = false;
  bool detach = false;
  bool json = false;
};

// The other end of --detach: what the supervisor in the background says to the command that started it.
class Announcer final {
 public:
  explicit Announcer(int fd) : fd_(fd) {}

  // Once: 'y' and the text for stdout, or 'n' and the text for stderr.
  void announce(char verdict, const std::string& text) {
    const std::string message = verdict + text;
    [[maybe_unused]] const ssize_t written = ::write(fd_, message.data(), message.size());
    ::close(fd_);
  }

 private:
  int fd_;
};

Json describe(const UpFlags& flags, const LocalCluster& cluster, const std::vector<RunningRole>& roles,
              const std::string& page) {
  std::string addresses;
  for (const std::string& agent : cluster.context.agents) addresses += (addresses.empty() ? "" : ",") + agent;
  Json processes = Json::array();
  for (const RunningRole& role : roles) {
    processes.push_back({{"role", role.command.role},
                         {"name", role.command.name},
                         {"pid", role.pid},
                         {"address", role.command.address},
                         {"metrics", role.command.metrics}});
  }
  Json up = {{"data", flags.plan.data}, {"cluster", addresses}, {"processes", processes}};
  if (!page.empty()) up["page"] = page;
  if (flags.plan.slices) up["machine_address"] = SliceNetworks(flags.plan.data).machineAddress();
  return up;
}

std::string describeForPeople(const UpFlags& flags, const std::vector<RunningRole>& roles,
                              const std::string& page) {
  std::string text = "The cluster is up, in " + flags.plan.data + ":\n";
  for (const RunningRole& role : roles) {
    text += "  " + role.command.name + "  (process " + std::to_string(role.pid) + ")\n";
  }
  if (flags.plan.slices) {
    text += "Tasks reach this machine at " + SliceNetworks(flags.plan.data).machineAddress() + "\n";
  }
  const bool isDefault = requireInput(dataFolder("")) == flags.plan.data;
  const std::string where = isDefault ? "" : " --data " + flags.plan.data;
  if (!page.empty())
    text += "Page: " + page + "\n      (signs in once, within five minutes; tarcil page" + where +
            " prints another)\n";
  text += "Try:  tarcil run" + where + " -- echo hello\n";
  text += flags.detach ? "Stop: tarcil down" + where + "\n" : "Stop: Ctrl-C, or tarcil down" + where + "\n";
  return text;
}

std::string program() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

// What the file of emulated servers says of their platforms.
void setPlatforms(const UpFlags& flags, const LocalCluster& cluster, kj::AsyncIoContext& io) {
  if (flags.plan.emulate.empty()) return;
  const auto platforms = requireInput(readServersFile(flags.plan.emulate)).platforms;
  Client client({io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()},
                cluster.context.agents, requireInput(readTokenFile(cluster.context.tokenFile)), {}, say);
  for (const auto& [name, share] : platforms) {
    client
        .ask([&name = name, &share = share](Session& session) {
          auto request = session.user.setPlatformRequest();
          write(name, share, request.initPlatform());
          return request.send();
        })
        .wait(io.waitScope);
  }
}

// Where the page is; empty where there is none, or it gives no word, which is said.
std::string pageOf(const LocalCluster& cluster, kj::AsyncIoContext& io) {
  if (cluster.context.page.empty()) return "";
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  try {
    const std::string token = requireInput(readTokenFile(cluster.context.tokenFile));
    return fetchPageAddress(net, cluster.context.page, token).wait(io.waitScope);
  } catch (const kj::Exception& exception) {
    say(fromException(exception).message);
    return "";
  }
}

kj::Promise<void> passHangupsOn(kj::UnixEventPort& port, Supervisor& supervisor) {
  return port.onSignal(SIGHUP).then([&port, &supervisor](siginfo_t&&) {
    supervisor.hangUp();
    say("SIGHUP: passed on to every role");
    return passHangupsOn(port, supervisor);
  });
}

// Supervises until told to stop; returns the exit code.
int supervise(const UpFlags& flags, const LocalCluster& cluster,
              std::function<void(const std::string&)> announceUp) {
  kj::UnixEventPort::captureSignal(SIGTERM);
  kj::UnixEventPort::captureSignal(SIGINT);
  kj::UnixEventPort::captureSignal(SIGHUP);
  kj::UnixEventPort::captureChildExit();
  auto io = kj::setupAsyncIo();
  Supervisor supervisor(io.unixEventPort, *io.lowLevelProvider, io.provider->getTimer(), program(), say);
  auto stopAsked = io.unixEventPort.onSignal(SIGTERM)
                       .exclusiveJoin(io.unixEventPort.onSignal(SIGINT))
                       .then([](siginfo_t&&) { return true; });
  const auto hangups =
      passHangupsOn(io.unixEventPort, supervisor).eagerlyEvaluate(stopsIfFailed("what SIGHUP asks for"));
  std::string problem;
  auto started = supervisor.start(cluster.stages)
                     .then([]() { return false; },
                           [&problem](kj::Exception&& exception) {
                             problem = fromException(exception).message;
                             return true;
                           });
  auto stop = stopAsked.fork();
  const auto stopAll = [&]() {
    supervisor.stop(flags.plan.stopGrace.count() * kj::MICROSECONDS).wait(io.waitScope);
  };
  if (started.exclusiveJoin(stop.addBranch()).wait(io.waitScope)) {
    stopAll();
    if (problem.empty()) return kExitDone;
    throw Failure(kExitFailed, problem);
  }
  setPlatforms(flags, cluster, io);
  const std::string page = pageOf(cluster, io);
  announceUp(flags.json ? describe(flags, cluster, supervisor.roles(), page).dump(2) + "\n"
                        : describeForPeople(flags, supervisor.roles(), page));
  stop.addBranch().wait(io.waitScope);
  stopAll();
  return kExitDone;
}

void recordSupervisor(const LocalClusterPlan& plan) {
  const Status written =
      writeSupervisorRecord(plan.data, {::getpid(), startTimeOf(::getpid()), plan.stopGrace});
  if (!written.ok()) throw badInput(written.error().message);
}

// When every role has ended.
void removeSlicesOf(const UpFlags& flags) {
  if (const Status removed = removeSlices(flags.plan.data); !removed.ok()) say(removed.error().message);
}

int stayInForeground(const UpFlags& flags, const LocalCluster& cluster) {
  KJ_DEFER(removeSlicesOf(flags));
  recordSupervisor(flags.plan);
  return supervise(flags, cluster, [](const std::string& text) {
    print(text);
    flushOutput();
  });
}

// In the background: a session of its own, with the log as its output.
[[noreturn]] void superviseDetached(const UpFlags& flags, const LocalCluster& cluster, Announcer announcer) {
  ::setsid();
  const std::string log = flags.plan.data + "/log/up.log";
  const int null = ::open("/dev/null", O_RDONLY);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(null, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  int code = kExitFailed;
  try {
    recordSupervisor(flags.plan);
    code =
        supervise(flags, cluster, [&announcer](const std::string& text) { announcer.announce('y', text); });
  } catch (const Failure& failure) {
    announcer.announce('n', failure.message());
    code = failure.code();
  } catch (const kj::Exception& exception) {
    announcer.announce('n', fromException(exception).message);
  }
  removeSlicesOf(flags);
  ::_exit(code);
}

int detach(const UpFlags& flags, const LocalCluster& cluster) {
  int ends[2];
  KJ_SYSCALL(::pipe2(ends, O_CLOEXEC));
  const pid_t child = ::fork();
  KJ_REQUIRE(child >= 0, "cannot fork");
  if (child == 0) {
    ::close(ends[0]);
    superviseDetached(flags, cluster, Announcer(ends[1]));
  }
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  ssize_t got;
  while ((got = ::read(ends[0], buffer, sizeof buffer)) > 0) said.append(buffer, static_cast<size_t>(got));
  if (!said.empty() && said[0] == 'y') {
    print(std::string_view(said).substr(1));
    return kExitDone;
  }
  throw Failure(kExitFailed, said.empty()
                                 ? "the cluster did not start; see " + flags.plan.data + "/log/up.log"
                                 : said.substr(1));
}

// What cannot work is said before anything is started.
void check(const UpFlags& flags) {
  if (flags.plan.masters > 1 && flags.plan.etcd.empty()) {
    throw badInput("--masters: several masters keep the store in etcd; add --etcd " +
                   std::string(kLocalEtcd) + ", or the URLs of one");
  }
  if (flags.plan.letsAllIn) {
    if (const Status reachable = checkReachable(flags.plan.data); !reachable)
      throw badInput("--users: " + reachable.error().message);
  }
  if (!flags.plan.emulate.empty()) {
    requireInput(readServersFile(flags.plan.emulate));
    return;
  }
  if (::geteuid() != 0) {
    throw badInput("running containers takes root: use sudo, or --emulate FILE for servers that are timers");
  }
  if (flags.plan.slices) {
    if (!std::filesystem::exists(limitedDiskProgram())) {
      throw badInput("--slices: there is no program " + limitedDiskProgram() +
                     ": build it, or use --servers");
    }
    if (const Status good = checkSlices(slicesOf(flags.plan)); !good.ok())
      throw badInput(good.error().message);
    return;
  }
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t rus = uint64_t{flags.plan.servers} * (flags.plan.rus == 0 ? cores : flags.plan.rus);
  if (rus > cores) {
    say(std::to_string(rus) + " resource units share " + std::to_string(cores) +
        " cores: good for trying things out, not for measuring");
  }
}

// What is said to the monitors of real servers, checked: they would name it only in their logs.
std::vector<std::string> monitorOptionsOf(const UpFlags& flags) {
  std::vector<std::string> options;
  const auto add = [&options, &flags](const std::string& name, const std::string& value) {
    if (!flags.plan.emulate.empty()) {
      throw badInput(name + ": is for servers that run containers; leave it out with --emulate");
    }
    options.insert(options.end(), {name, value});
  };
  for (const std::string& folder : flags.allowedRoots) {
    add("--allow-rootfs", std::filesystem::absolute(folder).lexically_normal());
  }
  for (const std::string& host : flags.insecureRegistries) add("--insecure-registry", host);
  if (flags.hostView && !flags.shares.empty())
    throw badInput("--share: is part of the --host-view; leave one out");
  if (flags.hostView && !flags.plan.emulate.empty())
    throw badInput("--host-view: is for servers that run containers; leave it out with --emulate");
  if (flags.hostView) options.emplace_back("--host-view");
  if (const Status good = checkViewPaths(flags.shares); !good.ok())
    throw badInput("--share: " + good.error().message);
  for (const std::string& path : flags.shares) add("--share", path);
  if (!flags.cores.empty() && !flags.plan.slices) {
    std::string list;
    for (const uint32_t core : flags.cores) list += (list.empty() ? "" : ",") + std::to_string(core);
    add("--cores", list);
  }
  Extras known;
  for (const std::string& extra : flags.extras) {
    if (const Status added = addExtra(extra, known); !added)
      throw badInput("--extra: " + added.error().message);
    add("--extra", extra);
  }
  for (const auto& [name, size] : {std::pair("--network-bandwidth", flags.networkBandwidth),
                                   std::pair("--memory-bandwidth", flags.memoryBandwidth)}) {
    if (size.empty()) continue;
    requireBandwidth(name, size);
    if (flags.plan.slices && name == std::string("--network-bandwidth")) continue;  // the slice has it
    add(name, size);
  }
  return options;
}

uint64_t requireSliceSize(const std::string& flag, const std::string& text, uint64_t least) {
  const auto bytes = parseSize(text);
  if (!bytes) throw badInput(flag + ": " + bytes.error().message);
  if (*bytes < least) throw badInput(flag + ": write " + formatSize(least) + " or more");
  return *bytes;
}

double requireSliceBandwidth(const std::string& flag, const std::string& text) {
  const double bandwidth = requireBandwidth(flag, text);
  if (bandwidth < kMinSliceBandwidth || bandwidth > kMaxSliceBandwidth) {
    throw badInput(flag + ": a slice has 100KB to 100GB a second; write one of these");
  }
  return bandwidth;
}

// What --slices and the options that go with it ask for.
void readSlices(UpFlags& flags) {
  LocalClusterPlan& plan = flags.plan;
  if (flags.slices == 0) {
    for (const auto& [name, value] :
         {std::pair("--slice-memory", flags.sliceMemory), std::pair("--slice-disk", flags.sliceDisk),
          std::pair("--disk-bandwidth", flags.diskBandwidth)}) {
      if (!value.empty()) throw badInput(std::string(name) + ": goes with --slices N only");
    }
    return;
  }
  SliceSize size;
  if (!flags.sliceMemory.empty()) {
    size.memoryBytes = requireSliceSize("--slice-memory", flags.sliceMemory, kMinSliceMemory);
    const uint64_t most = memoryForServers() / flags.slices;
    if (size.memoryBytes > most) {
      throw badInput("--slice-memory: " + std::to_string(flags.slices) +
                     " slices of this machine have at most " + formatSize(most) +
                     " each; write no more, or fewer slices");
    }
  }
  if (!flags.sliceDisk.empty()) {
    size.diskBytes = requireSliceSize("--slice-disk", flags.sliceDisk, kMinSliceDisk);
  }
  if (!flags.diskBandwidth.empty()) {
    size.diskBytesPerSecond = requireSliceBandwidth("--disk-bandwidth", flags.diskBandwidth);
  }
  if (!flags.networkBandwidth.empty()) {
    size.networkBytesPerSecond = requireSliceBandwidth("--network-bandwidth", flags.networkBandwidth);
  }
  plan.servers = flags.slices;
  plan.slices = size;
  plan.cores = requireInput(coresToUse(flags.cores));
}

// A server that has the machine, or a slice of it, to itself is measured. Where several share it, or units
// share cores, each would take the others' tasks for background.
std::string defaultPressurePeriod(const LocalClusterPlan& plan) {
  if (plan.slices) return "1s";
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  return plan.servers == 1 && plan.rus <= cores ? "1s" : "off";
}

// Where the supervisor of the folder's last cluster was killed, its monitors end by themselves, after their
// tasks. One that takes longer than that is no such monitor: it is refused by the one that is to be started.
void awaitEarlierMonitors(const LocalClusterPlan& plan) {
  const auto until = std::chrono::steady_clock::now() + plan.stopGrace + std::chrono::seconds(10);
  for (int looks = 0; isStillEnding(plan.data) && std::chrono::steady_clock::now() < until; ++looks) {
    if (looks == 10) say("waiting for tasks of the cluster's last start to end");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

int up(UpFlags& flags) {
  readSlices(flags);
  if (flags.plan.pressurePeriod.empty()) flags.plan.pressurePeriod = defaultPressurePeriod(flags.plan);
  requireDuration("--pressure-period", flags.plan.pressurePeriod, kPressurePeriod);
  if (!flags.stopGrace.empty()) {
    flags.plan.stopGrace = requireDuration("--stop-grace", flags.stopGrace, kStopGrace);
  }
  flags.plan.monitorOptions = monitorOptionsOf(flags);
  flags.plan.hasPage = !flags.noPage;
  flags.plan.data = std::filesystem::absolute(requireInput(dataFolder(flags.data))).lexically_normal();
  flags.plan.letsAllIn = flags.users == "all";
  check(flags);
  protectFromOomKiller();
  const kj::AutoCloseFd lock = requireInput(lockLocalCluster(flags.plan.data));
  awaitEarlierMonitors(flags.plan);
  const LocalCluster cluster = requireInput(prepareLocalCluster(flags.plan));
  return flags.detach ? detach(flags, cluster) : stayInForeground(flags, cluster);
}

}  // namespace

void addUp(CLI::App& app) {
  addCommand(
      app, "up",
      {"up [OPTIONS]", summaryOf("up"),
       "Starts a master, agents, monitors and a gateway for the page, each a process of its own, and "
       "supervises them: one that dies "
       "is started again. Everything is kept below the data folder: state, logs, tokens, and the context by "
       "which the other commands find the cluster. Started again on the same folder, the cluster continues "
       "where it was.\n\n"
       "With several servers on one machine, resource units share its cores.",
       "  tarcil up\n"
       "  tarcil up --detach --servers 4 --rus 8 --agents 2\n"
       "  tarcil up --masters 3 --etcd local\n"
       "  tarcil up --detach --emulate servers.yaml\n",
       "  0  the cluster is up (--detach), or was up and has been stopped\n"
       "  1  a role did not start; the message has the end of its log\n"
       "  2  bad arguments, a folder that cannot be used, a cluster running there\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<UpFlags>();
        command
            .add_option("--data", flags->data,
                        "Folder that holds everything. Default: TARCIL_DATA, or $XDG_STATE_HOME/tarcil")
            ->type_name("DIR");
        command.add_option("--servers", flags->plan.servers, "Monitors on this machine. Default: 1")
            ->check(wholeNumber(1, 256))
            ->type_name("N");
        command
            .add_option(
                "--slices", flags->slices,
                "Servers that are each a slice of this machine, with cores, memory, disk and network of "
                "its own, measured (docs/slices.md). Instead of --servers.")
            ->excludes("--servers")
            ->check(wholeNumber(1, kMaxSlices))
            ->type_name("N");
        command
            .add_option("--slice-memory", flags->sliceMemory,
                        "Memory of each slice. Default: an equal part of four fifths of the machine's")
            ->type_name("SIZE");
        command.add_option("--slice-disk", flags->sliceDisk, "Disk of each slice. Default: 1GiB")
            ->type_name("SIZE");
        command
            .add_option("--disk-bandwidth", flags->diskBandwidth,
                        "Bytes that each slice's disk reads and writes in a second. Default: 50MB")
            ->type_name("SIZE");
        command.add_option("--rus", flags->plan.rus, "Resource units of each. Default: one per core")
            ->check(wholeNumber(1, kMaxRusPerServer))
            ->type_name("N");
        command
            .add_option(
                "--masters", flags->plan.masters,
                "Masters, of which one leads and the others stand by; more than one need --etcd. Default: 1")
            ->check(wholeNumber(1, kMaxMasters))
            ->type_name("N");
        command
            .add_option(
                "--etcd", flags->plan.etcd,
                "Keep the store in the etcd at these URLs, or in one of three members that is started, "
                "supervised and stopped with the cluster (local). Default: in a folder")
            ->type_name("local|URL[,URL]");
        command.add_option("--agents", flags->plan.agents, "Agents. Default: 1")
            ->check(wholeNumber(1, 64))
            ->type_name("N");
        command
            .add_option("--emulate", flags->plan.emulate,
                        "File of servers that are timers, instead of --servers.")
            ->excludes("--slices")
            ->type_name("FILE");
        command
            .add_option("--late-binding-units", flags->plan.lateUnits,
                        "Most units of each server for late-bound tasks. Default: all, with --emulate none")
            ->check(wholeNumber(0, kMaxRusPerServer))
            ->type_name("N");
        flags->plan.pressurePeriod.clear();
        command
            .add_option("--pressure-period", flags->plan.pressurePeriod,
                        "How often the pressures on servers are measured; off: never. Default: 1s where one "
                        "server has the machine and a core for each unit, else off")
            ->type_name("DURATION|off");
        command
            .add_option("--cores", flags->cores,
                        "Cores (hardware threads) that tasks may use, as 0,1,2. Default: all")
            ->delimiter(',')
            ->allow_extra_args(false)
            ->check(wholeNumber(0, 65'535))
            ->type_name("LIST");
        command
            .add_option(
                "--allow-rootfs", flags->allowedRoots,
                "Folder that jobs may use as their root file system, or take images from, with all below it; "
                "may be repeated. Default: none")
            ->allow_extra_args(false)
            ->type_name("DIR");
        command
            .add_option("--insecure-registry", flags->insecureRegistries,
                        "Registry, as HOST or HOST:PORT, whose images are fetched without TLS; may be "
                        "repeated. Default: none")
            ->allow_extra_args(false)
            ->type_name("HOST");
        command
            .add_option("--share", flags->shares,
                        "Folder, file or device of this machine that tasks may write to as their users may, "
                        "besides /home, /srv and /var/tmp; may be repeated.")
            ->allow_extra_args(false)
            ->type_name("PATH");
        command.add_flag(
            "--host-view", flags->hostView,
            "Tasks see this machine's files and devices as their users do, and write where these "
            "may. Default: they see files read-only, what is shared excepted, and a /dev of their "
            "own.");
        command
            .add_option("--extra", flags->extras,
                        "KIND=COUNT, countable things of each server that jobs can ask for, as gpus=4; may "
                        "be repeated.")
            ->allow_extra_args(false)
            ->type_name("KIND=COUNT");
        command
            .add_option("--network-bandwidth", flags->networkBandwidth,
                        "Network bandwidth in bytes per second, each way. Default: as its interfaces report")
            ->type_name("SIZE");
        command
            .add_option("--memory-bandwidth", flags->memoryBandwidth,
                        "Memory bandwidth in bytes per second. Default: not known")
            ->type_name("SIZE");
        command
            .add_option("--stop-grace", flags->stopGrace,
                        "Most grace that tasks get when the cluster is stopped. Default: " +
                            formatDuration(flags->plan.stopGrace))
            ->type_name("DURATION");
        command
            .add_option(
                "--users", flags->users,
                "Whom the cluster lets in: mine, who have a token of it, or all users of this machine, "
                "by their user id, each with jobs that run as themselves. Default: mine")
            ->check(oneOf({"mine", "all"}))
            ->type_name("mine|all");
        command.add_flag("--no-page", flags->noPage, "Start no gateway: neither page nor HTTP interface.");
        command.add_flag("--detach", flags->detach,
                         "Return once the cluster answers; it continues in the background.");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return up(*flags); });
      });
}

}  // namespace tarcil
