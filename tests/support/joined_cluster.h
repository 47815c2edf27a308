// A cluster over hosts of its own that comes up with `tarcil init` and `tarcil join` alone: for tests of who
// gets into it and who does not. Include only in tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cluster.h"
#include "tests/support/process.h"
#include "tests/support/virtual_network.h"

namespace tarcil {

// Its roles are emulated servers, so that no root is needed for tasks.
class JoinedCluster final : public TestCluster {
 public:
  explicit JoinedCluster(std::vector<std::string> masterFlags = {}) : masterFlags_(std::move(masterFlags)) {
    std::filesystem::create_directories(folder_);
  }

  // A command on one of the hosts, with the data folder of that host.
  ProcessResult on(const std::string& host, std::vector<std::string> arguments) {
    return started(host, {"/usr/bin/timeout", "--kill-after=5", "60"}, arguments)->finish();
  }
  std::string dataOf(const std::string& host) const { return folder_ + "/" + host; }
  std::string at(const std::string& host, int port) const {
    return network_.addressOf(host) + ":" + std::to_string(port);
  }

  void init() {
    const ProcessResult made = on("m", {"init", "--listen", at("m", 7001)});
    ASSERT_EQ(made.exitCode, 0) << made.err;
    startMaster();
  }
  void startMaster() {
    std::vector<std::string> arguments = {"serve", "master"};
    arguments.insert(arguments.end(), masterFlags_.begin(), masterFlags_.end());
    start("m", "m", arguments);
  }
  std::string wordFor(const std::string& role, const std::string& name) {
    const ProcessResult made = on("m", {"join-token", role, "--name", name});
    EXPECT_EQ(made.exitCode, 0) << made.err;
    return made.out.substr(0, made.out.find('\n'));
  }
  ProcessResult join(const std::string& host, const std::string& word) {
    return on(host, {"join", at("m", 7002), "--token", word});
  }
  void joinAs(const std::string& host, const std::string& role, const std::string& name) {
    const ProcessResult joined = join(host, wordFor(role, name));
    ASSERT_EQ(joined.exitCode, 0) << joined.err;
  }
  void startAgent() { start("a", "a", {"serve", "agent", "--listen", at("a", 7101)}); }
  void startMonitor() {
    const std::string file = folder_ + "/servers.yaml";
    std::ofstream(file) << "servers:\n  - {name: s7, rus: 4}\n";
    start("s", "s", {"serve", "monitor", "--listen", at("s", 7201), "--emulate", file});
  }
  // All of it.
  void comeUp() {
    init();
    joinAs("a", "agent", "a1");
    joinAs("s", "monitor", "s7");
    startAgent();
    startMonitor();
  }
  // A user's command on the agent's machine, which knows the authority.
  ProcessResult user(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(),
                     {"--cluster", at("a", 7101), "--token-file", dataOf("m") + "/tokens/operate.token"});
    return on("a", std::move(arguments));
  }
  Process& process(const std::string& name) { return *processes_.at(name); }
  // Another program on one of the hosts.
  std::unique_ptr<Process> program(const std::string& host, const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = network_.runOn(host);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::make_unique<Process>(all, Environment{{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}});
  }
  // A role, which ends with this process.
  void start(const std::string& name, const std::string& host, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--supervised", "--ready-fd", "1"});
    auto process = started(host, {}, arguments);
    EXPECT_TRUE(process->waitFor("ready\n")) << name << " did not start: " << process->finish().err;
    processes_[name] = std::move(process);
  }

 private:
  std::unique_ptr<Process> started(const std::string& host, const std::vector<std::string>& before,
                                   const std::vector<std::string>& arguments) {
    std::vector<std::string> all = network_.runOn(host);
    all.insert(all.end(), before.begin(), before.end());
    all.emplace_back(TARCIL_BINARY);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return std::make_unique<Process>(all, Environment{{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"},
                                                      {"HOME", folder_},
                                                      {"TARCIL_DATA", dataOf(host)}});
  }

  const std::vector<std::string> masterFlags_;
  VirtualNetwork network_{{"m", "a", "s", "x"}};
  std::map<std::string, std::unique_ptr<Process>> processes_;
};

}  // namespace tarcil
