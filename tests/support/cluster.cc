#include "tests/support/cluster.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tarcil {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(60);
constexpr auto kLookAgain = std::chrono::milliseconds(5);

std::string makeFolder() {
  char name[] = "/var/tmp/tarcil-processes-XXXXXX";
  if (::mkdtemp(name) == nullptr) throw std::runtime_error("cannot make a folder below /var/tmp");
  return name;
}

std::string contentOf(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool becomesTrue(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kLookAgain);
  }
  return true;
}

}  // namespace

// --- Traces -----------------------------------------------------------------------------------------------

TraceFolder::TraceFolder() : path_(makeFolder()) {
  ::chmod(path_.c_str(), 0777);
}

TraceFolder::~TraceFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TraceFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(at(name)) << text;
}

std::vector<std::string> TraceFolder::lines(const std::string& name) const {
  std::ifstream in(at(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool TraceFolder::waitForLines(const std::string& name, size_t count) const {
  if (becomesTrue([this, &name, count]() { return lines(name).size() >= count; })) return true;
  ADD_FAILURE() << lines(name).size() << " lines in " << name << " after a minute, not " << count;
  return false;
}

std::string emulatedServer(const TraceFolder& folder) {
  folder.write("servers.yaml", "servers: [{name: s, rus: 2}]\n");
  return folder.at("servers.yaml");
}

std::string shellJob(const std::string& script, const std::string& more) {
  return "command: [sh, -c, " + Json(script).dump() + "]\n" + more;
}

std::string TraceFolder::note(const std::string& name) const {
  return "echo $TARCIL_TASK >> " + at(name) + "; ";
}

std::string TraceFolder::waitForGate() const {
  return "while [ -d " + path_ + " ] && ! [ -e " + at("gate") + " ]; do sleep 0.02; done; ";
}

std::string TraceFolder::holdLock() const {
  const std::string alive = at("alive-"), own = alive + "$TARCIL_ATTEMPT";
  return "exec 9>" + own + "; flock 9; for other in " + alive + "*; do [ $other = " + own +
         " ] || flock -n $other true || " + note("overlap") + " done; ";
}

bool TraceFolder::isHeld(uint32_t attempt) const {
  const int fd = ::open(at("alive-" + std::to_string(attempt)).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool held = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
  ::close(fd);
  return held;
}

// --- Any cluster ------------------------------------------------------------------------------------------

TestCluster::TestCluster() : folder_(makeFolder()) {
  ::chmod(folder_.c_str(), 0711);
}

TestCluster::~TestCluster() {
  if (testing::Test::HasFailure()) printLogs();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Environment TestCluster::environment() const {
  return {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}, {"HOME", folder_}, {"TARCIL_DATA", data()}};
}

Process TestCluster::startCommand(std::vector<std::string> arguments, Environment more) const {
  more.merge(environment());
  arguments.insert(arguments.begin(), {"/usr/bin/timeout", "--kill-after=5", "60", TARCIL_BINARY});
  arguments.insert(arguments.begin(), commandPrefix_.begin(), commandPrefix_.end());
  return Process(arguments, more);
}

ProcessResult TestCluster::run(std::vector<std::string> arguments, Environment more) const {
  return startCommand(std::move(arguments), std::move(more)).finish();
}

ProcessResult TestCluster::runAs(const std::string& user, std::vector<std::string> arguments,
                                 Environment more) const {
  more.merge(environment());
  arguments.insert(arguments.begin(),
                   {"/usr/bin/setpriv", "--reuid", user, "--regid", "65534", "--clear-groups",
                    "/usr/bin/timeout", "--kill-after=5", "60", TARCIL_BINARY});
  return Process(arguments, more).finish();
}

Json TestCluster::json(std::vector<std::string> arguments, int exitCode) const {
  arguments.push_back("--json");
  const ProcessResult result = run(arguments);
  EXPECT_EQ(result.exitCode, exitCode) << "tarcil " << arguments[0] << ": " << result.err << result.out;
  Json answer = Json::parse(result.out, nullptr, false);
  if (answer.is_discarded())
    throw std::runtime_error("tarcil " + arguments[0] + " gave no JSON: " + result.err);
  return answer;
}

std::string TestCluster::jobFile(const std::string& yaml) const {
  std::string path = folder_ + "/job.yaml";
  std::ofstream(path) << yaml;
  return path;
}

std::string TestCluster::submit(const std::string& yaml) const {
  const Json answer = json({"submit", jobFile(yaml)});
  return answer.is_object() ? answer.value("job", "") : "";
}

Json TestCluster::ended(const std::string& job) const {
  run({"job", "wait", job});
  return status(job);
}

void TestCluster::until(const std::string& what, const std::function<bool()>& holds) const {
  if (!becomesTrue(holds)) ADD_FAILURE() << what << ": not within a minute";
}

std::vector<pid_t> TestCluster::shimsOf(const std::string& server) const {
  std::vector<pid_t> shims;
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator(data() + "/monitors/" + server + "/tasks", ignored)) {
    if (pid_t shim = 0; std::ifstream(task.path() / "lock") >> shim) shims.push_back(shim);
  }
  return shims;
}

void TestCluster::expectAllUnitsFree() const {
  until("all servers are up", [this]() {
    const Json servers = json({"server", "list"});
    return !servers.empty() &&
           std::all_of(servers.begin(), servers.end(), [](const Json& it) { return it["state"] == "up"; });
  });
  for (const Json& server : json({"server", "list"})) {
    EXPECT_EQ(server["free"], server["rus"]) << "units of " << server["name"] << " are taken";
  }
}

void TestCluster::printLogs() const {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(data() + "/log", ignored)) {
    std::cerr << "--- " << file.path().filename().string() << " ---\n" << contentOf(file.path());
  }
}

// --- tarcil up --------------------------------------------------------------------------------------------

SupervisedCluster::SupervisedCluster(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"up", "--detach"});
  const Json up = json(std::move(arguments));
  if (!up.is_object()) throw std::runtime_error("the cluster did not start");
  for (const Json& process : up["processes"]) pids_[process["name"]] = process["pid"];
}

SupervisedCluster::~SupervisedCluster() {
  traces_.openGate();
  if (testing::Test::HasFailure()) printLogs();
  run({"down"});
}

std::string SupervisedCluster::log() const {
  return contentOf(data() + "/log/up.log");
}

void SupervisedCluster::waitForReturn(const std::string& name) const {
  until(name + " is back", [this, &name]() { return log().find(name + " is back") != std::string::npos; });
}

// --- Roles started by hand --------------------------------------------------------------------------------

ManualCluster::ManualCluster(ClusterPlan plan) : plan_(std::move(plan)) {
  LocalClusterPlan local{data(), plan_.servers, plan_.rus, plan_.agents, plan_.emulate};
  local.hasPage = plan_.hasPage;
  local.masters = plan_.masters;
  local.etcd = plan_.etcd;
  auto prepared = prepareLocalCluster(local);
  if (!prepared.ok()) throw std::runtime_error(prepared.error().message);
  roles_ = *prepared;
  if (plan_.network != nullptr) spreadOverHosts();
  std::ofstream(data() + "/master/tokens", std::ios::app) << plan_.moreTokens;
  for (const auto& stage : roles_.stages) {
    for (const RoleCommand& role : stage) {
      if (std::find(plan_.notYet.begin(), plan_.notYet.end(), role.name) == plan_.notYet.end())
        start(role.name);
    }
  }
}

// Every address of a socket becomes one of the host that has the process.
void ManualCluster::spreadOverHosts() {
  std::map<std::string, std::string> moved;
  for (const auto& stage : roles_.stages) {
    for (const RoleCommand& role : stage) moved[role.address] = plan_.network->addressOf(role.name) + ":7000";
  }
  const auto move = [&moved](std::string& text) {
    if (const auto found = moved.find(text); found != moved.end()) text = found->second;
  };
  for (auto& stage : roles_.stages) {
    for (RoleCommand& role : stage) {
      std::for_each(role.arguments.begin(), role.arguments.end(), move);
      role.arguments.emplace_back("--insecure");
    }
  }
  std::for_each(roles_.context.agents.begin(), roles_.context.agents.end(), move);
  if (const Status written = writeContext(data(), roles_.context); !written.ok())
    throw std::runtime_error(written.error().message);
  commandPrefix_ = plan_.network->runOn("user");
  commandPrefix_.insert(commandPrefix_.end(), {"/usr/bin/env", "TARCIL_INSECURE=1"});
}

// Agents first and the master last, so that what ends is recorded; monitors end their tasks.
ManualCluster::~ManualCluster() {
  traces_.openGate();
  for (auto stage = roles_.stages.rbegin(); stage != roles_.stages.rend(); ++stage) {
    for (const RoleCommand& role : *stage) {
      if (const auto found = processes_.find(role.name); found != processes_.end()) {
        found->second->signal(SIGTERM);
        found->second->finish();
      }
    }
  }
}

const RoleCommand& ManualCluster::command(const std::string& name) const {
  for (const auto& stage : roles_.stages) {
    for (const RoleCommand& role : stage) {
      if (role.name == name) return role;
    }
  }
  throw std::runtime_error("no process is called " + name);
}

namespace {

void setOption(std::vector<std::string>& arguments, const std::string& option, const std::string& value) {
  const auto given = std::find(arguments.begin(), arguments.end(), option);
  if (given != arguments.end()) {
    given[1] = value;
  } else {
    arguments.insert(arguments.end(), {option, value});
  }
}

}  // namespace

// A shell in between sends the output to the log, makes stdout the descriptor that says "ready", and, where
// the process is to die at a failpoint, notes how it ended and starts it again without one.
void ManualCluster::start(const std::string& name) {
  const RoleCommand& role = command(name);
  std::string script = "exec 3>&1 >>" + role.log + " 2>&1; ";
  if (const auto shell = plan_.shellOf.find(name); shell != plan_.shellOf.end())
    script += shell->second + "; ";
  if (name == plan_.failing && !hasFailed()) {
    script += "TARCIL_FAILPOINT=" + plan_.failpoint +
              " \"$@\" & child=$!; trap 'kill $child; wait $child; exit' TERM; "
              "wait $child; echo $? > " +
              deathNote() + "; " + (plan_.staysDead ? "exit; " : "");
  }
  std::vector<std::string> arguments = {"/bin/sh", "-c", script + "exec \"$@\"", "sh"};
  if (plan_.network != nullptr) {
    const auto onHost = plan_.network->runOn(name);
    arguments.insert(arguments.end(), onHost.begin(), onHost.end());
  }
  arguments.push_back(TARCIL_BINARY);
  arguments.insert(arguments.end(), role.arguments.begin(), role.arguments.end());
  for (const std::string& flag : plan_.withoutFlags) std::erase(arguments, flag);
  if (role.role == "monitor")
    arguments.insert(arguments.end(), plan_.monitorFlags.begin(), plan_.monitorFlags.end());
  if (role.role == "master")
    arguments.insert(arguments.end(), plan_.masterFlags.begin(), plan_.masterFlags.end());
  if (const auto own = plan_.optionsOf.find(name); own != plan_.optionsOf.end()) {
    for (const auto& [option, value] : own->second) setOption(arguments, option, value);
  }
  arguments.insert(arguments.end(), {"--supervised", "--ready-fd", "3"});
  auto process = std::make_unique<Process>(arguments, environment());
  EXPECT_TRUE(process->waitFor("ready\n")) << name << " did not start";
  processes_[name] = std::move(process);
}

void ManualCluster::kill(const std::string& name) {
  processes_.at(name)->signal(SIGKILL);
  processes_.at(name)->finish();
  processes_.erase(name);
}

void ManualCluster::signal(const std::string& name, int number) {
  processes_.at(name)->signal(number);
}

ProcessResult ManualCluster::endOf(const std::string& name) {
  ProcessResult result = processes_.at(name)->finish();
  processes_.erase(name);
  return result;
}

std::string ManualCluster::logOf(const std::string& name) const {
  return contentOf(command(name).log);
}

bool ManualCluster::hasFailed() const {
  return contentOf(deathNote()) == std::to_string(plan_.failingWith) + "\n";
}

void ManualCluster::waitForFailure() const {
  until(plan_.failing + " reaches " + plan_.failpoint, [this]() { return hasFailed(); });
}

std::string whyNoProcesses() {
  if (::geteuid() != 0) return "running containers takes root";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? "" : "running containers takes the right to make namespaces";
}

}  // namespace tarcil
