// How processes reach each other: over TCP, while a peer is away, and where two claim one name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "rpc/token.h"
#include "tests/support/cluster.h"

namespace tarcil::reaching_test {

using testing::HasSubstr;

std::string contentOf(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// --- Over TCP ---------------------------------------------------------------------------------------------

// A master, a monitor and an agent, each at a port of this machine that was free.
class TcpCluster final : public TestCluster {
 public:
  explicit TcpCluster(const std::string& servers) {
    if (!prepareLocalCluster({data(), 1, 1, 1, servers}).ok()) throw std::runtime_error("no data folder");
    master_ = start("master", {"--data", data()});
    monitor_ = start("monitor",
                     {"--name", "m", "--master", master_, "--token-file", data() + "/tokens/monitor.token",
                      "--data", data() + "/monitors/m", "--emulate", servers});
    agent_ =
        start("agent", {"--name", "a", "--master", master_, "--token-file", data() + "/tokens/agent.token"});
  }

  // What was started last ends first, so that the master hears of every end.
  ~TcpCluster() override {
    for (auto process = processes_.rbegin(); process != processes_.rend(); ++process) {
      (*process)->signal(SIGTERM);
      (*process)->finish();
    }
  }

  // A command as a user on another machine gives it.
  ProcessResult runRemotely(std::vector<std::string> arguments, const std::string& tokenFile) {
    return run(std::move(arguments), {{"TARCIL_CLUSTER", agent_}, {"TARCIL_TOKEN_FILE", tokenFile}});
  }
  std::string tokenFile() const { return data() + "/tokens/submit.token"; }
  const std::string& master() const { return master_; }
  const std::string& monitor() const { return monitor_; }

 private:
  // Returns its address once it serves.
  std::string start(const std::string& role, const std::vector<std::string>& options) {
    const std::string log = data() + "/log/" + role + ".log";
    std::vector<std::string> arguments = {
        "/bin/sh",      "-c",          "exec 3>&1 >>" + log + " 2>&1; exec \"$@\"",
        "sh",           TARCIL_BINARY, "serve",
        role,           "--listen",    "127.0.0.1:0",
        "--supervised", "--ready-fd",  "3"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    processes_.push_back(std::make_unique<Process>(arguments, environment()));
    EXPECT_TRUE(processes_.back()->waitFor("ready\n")) << role << " did not start";
    const std::string text = contentOf(log), mark = "listens at ";
    const size_t begin = text.find(mark) + mark.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  std::vector<std::unique_ptr<Process>> processes_;
  std::string master_, monitor_, agent_;
};

TEST(Tcp, ServesUsersOfOtherMachinesWithATokenFile) {
  TraceFolder folder;
  TcpCluster cluster(emulatedServer(folder));
  EXPECT_EQ(cluster.runRemotely({"run", "--", "sleep", "0.05"}, cluster.tokenFile()).exitCode, 0);
  const ProcessResult listed = cluster.runRemotely({"job", "list", "--json"}, cluster.tokenFile());
  EXPECT_EQ(Json::parse(listed.out)[0]["state"], "done");
}

TEST(Tcp, RefusesATokenThatIsNotKnown) {
  TraceFolder folder;
  TcpCluster cluster(emulatedServer(folder));
  ASSERT_TRUE(writeTokenFile(folder.at("token"), makeToken()).ok());
  const ProcessResult result = cluster.runRemotely({"job", "list"}, folder.at("token"));
  EXPECT_EQ(result.exitCode, 3);
  EXPECT_THAT(result.err, HasSubstr("token"));
  EXPECT_EQ(cluster.runRemotely({"job", "list"}, folder.at("none")).exitCode, 3);
}

TEST(Tcp, SaysWhichRoleAWrongAddressIs) {
  TraceFolder folder;
  TcpCluster cluster(emulatedServer(folder));
  const std::string late = "policy: late-binding\ncommand: [sleep, 0.05]\n";
  for (const std::string& address : {cluster.master(), cluster.monitor()}) {
    const auto runAt = [&](std::vector<std::string> arguments) {
      return cluster.run(std::move(arguments),
                         {{"TARCIL_CLUSTER", address}, {"TARCIL_TOKEN_FILE", cluster.tokenFile()}});
    };
    const std::string words =
        "tarcil: " + address + " is a master (or monitor), not an agent; give an agent's ";
    ProcessResult result = runAt({"job", "list"});
    EXPECT_EQ(result.exitCode, 3);
    EXPECT_THAT(result.err, testing::StartsWith(words));
    result = runAt({"run", "--", "true"});
    EXPECT_EQ(result.exitCode, 125);
    EXPECT_THAT(result.err, HasSubstr(words));
    result = runAt({"submit", "--wait", cluster.jobFile(late)});
    EXPECT_EQ(result.exitCode, 3);
    EXPECT_THAT(result.err, HasSubstr(words));
  }
}

TEST(Tcp, MetricsAreServedToThisMachineUnlessItIsSaidOtherwise) {
  TraceFolder folder;
  TcpCluster cluster(emulatedServer(folder));
  std::vector<std::string> agent = {
      "serve",    "agent",          "--name",       "b",
      "--master", cluster.master(), "--token-file", cluster.data() + "/tokens/agent.token",
      "--listen", "127.0.0.1:0",    "--metrics",    "0.0.0.0:0"};
  const ProcessResult refused = cluster.run(agent);
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("--metrics: 0.0.0.0:0 is open to other machines"));
  EXPECT_THAT(refused.err, HasSubstr("add --insecure"));
  agent.emplace_back("--insecure");
  Process process = cluster.startCommand(agent);
  EXPECT_TRUE(process.waitFor("serves metrics at "));
  process.signal(SIGTERM);
  process.finish();
}

TEST(Tcp, OthersAreToldToDialWhatARoleAdvertises) {
  TraceFolder folder;
  TcpCluster cluster(emulatedServer(folder));
  const std::vector<std::string> agent = {
      "serve",    "agent",          "--name",       "b",
      "--master", cluster.master(), "--token-file", cluster.data() + "/tokens/agent.token",
      "--listen", "0.0.0.0:0",      "--insecure"};
  const ProcessResult refused = cluster.run(agent);
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_THAT(refused.err, HasSubstr("say with --advertise HOST:PORT what others are to dial"));
  std::vector<std::string> advertising = agent;
  advertising.insert(advertising.end(), {"--advertise", "127.0.0.1:0"});
  Process process = cluster.startCommand(advertising);
  cluster.until("the agent is listed at what it advertises", [&]() {
    const ProcessResult listed = cluster.runRemotely({"agent", "list", "--json"}, cluster.tokenFile());
    for (const Json& one : Json::parse(listed.out)) {
      const std::string address = one.value("address", "");
      if (one["name"] == "b") return address.starts_with("127.0.0.1:") && !address.ends_with(":0");
    }
    return false;
  });
  process.signal(SIGTERM);
  process.finish();
}

TEST(Tcp, WatchingTellsOfTheProgressAndShowsTheEnd) {
  TraceFolder folder;
  TcpCluster cluster(emulatedServer(folder));
  const ProcessResult result = cluster.runRemotely(
      {"submit", "--watch", cluster.jobFile("command: [sleep, 0.05]\n")}, cluster.tokenFile());
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_THAT(result.err, HasSubstr("is accepted; it goes on where this command is ended\ntarcil: 1 "));
  EXPECT_THAT(result.out, HasSubstr("1 done"));
}

// --- Peers that are away ----------------------------------------------------------------------------------

class MasterAway : public testing::TestWithParam<std::string> {};

TEST_P(MasterAway, IsSaidOnceAndAgainWhenItIsThere) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = emulatedServer(folder), .notYet = {"agent-1"}});
  const std::string name = GetParam();
  if (name == "agent-1") cluster.start(name);
  const std::string log = cluster.data() + "/log/" + name + ".log";
  const auto said = [&log](const std::string& what) { return countOf(contentOf(log), what); };
  EXPECT_EQ(said("attached to the master"), 1u);
  cluster.kill("master");
  cluster.until("the outage is told", [&said]() { return said("out of reach: ") == 1; });
  cluster.start("master");
  cluster.until("the return is told", [&said]() { return said("attached to the master") == 2; });
  EXPECT_LE(said("out of reach: "), 1u) << "once an outage, however often it was tried";
}

INSTANTIATE_TEST_SUITE_P(Roles, MasterAway, testing::Values("agent-1", "emulated"));

// Takes connections and drops them.
class Slammer final {
 public:
  explicit Slammer(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 1), 0);
  }
  ~Slammer() { ::close(fd_); }
  Slammer(const Slammer&) = delete;
  Slammer& operator=(const Slammer&) = delete;

  void takeAndDrop(int connections) const {
    for (int i = 0; i < connections; ++i) ::close(::accept(fd_, nullptr, nullptr));
  }

 private:
  const int fd_;
};

TEST(Agent, TellsOfAnOutageOnceHoweverOftenItTries) {
  TraceFolder folder;
  const Slammer master(folder.at("master.sock"));
  ASSERT_TRUE(writeTokenFile(folder.at("token"), makeToken()).ok());
  Process agent(
      {TARCIL_BINARY, "serve", "agent", "--name", "a", "--master", "unix:" + folder.at("master.sock"),
       "--token-file", folder.at("token"), "--listen", "127.0.0.1:0"},
      {});
  master.takeAndDrop(4);
  agent.signal(SIGTERM);
  EXPECT_EQ(countOf(agent.finish().err, "out of reach: "), 1u);
}

TEST(Agent, StartedBeforeItsMasterSaysThatItIsOutOfReach) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = emulatedServer(folder), .notYet = {"master", "emulated", "agent-1"}});
  Process agent = cluster.startCommand({"serve", "agent", "--name", "a", "--master",
                                        "unix:" + cluster.data() + "/run/master.sock", "--token-file",
                                        cluster.data() + "/tokens/agent.token", "--listen", "127.0.0.1:0"});
  EXPECT_TRUE(agent.waitFor("out of reach: "));
  cluster.start("master");
  EXPECT_TRUE(agent.waitFor("attached to the master"));
  agent.signal(SIGTERM);
  EXPECT_EQ(countOf(agent.finish().err, "out of reach: "), 1u);
}

// --- Two agents of one name -------------------------------------------------------------------------------

TEST(Agent, WhoseNameAnotherTookEndsAndItsClientsFailOver) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = emulatedServer(folder)});
  const std::string first = "unix:" + cluster.data() + "/run/agent-1.sock";
  const std::string second = "unix:" + cluster.data() + "/run/other.sock";
  Process other = cluster.startCommand({"serve", "agent", "--name", "agent-1", "--master",
                                        "unix:" + cluster.data() + "/run/master.sock", "--token-file",
                                        cluster.data() + "/tokens/agent.token", "--listen", second});
  ASSERT_TRUE(other.waitFor("ready"));
  // It has nothing to commit, and learns it all the same.
  cluster.until("the first agent has ended", [&]() {
    return contentOf(cluster.data() + "/log/agent-1.log")
               .find("another process has attached as agent 'agent-1'") != std::string::npos;
  });
  const ProcessResult result = cluster.run({"submit", cluster.jobFile("command: [sleep, 0.01]\n")},
                                           {{"TARCIL_CLUSTER", first + "," + second},
                                            {"TARCIL_TOKEN_FILE", cluster.data() + "/tokens/operate.token"}});
  EXPECT_EQ(result.exitCode, 0) << result.err;
  other.signal(SIGTERM);
  other.finish();
}

}  // namespace tarcil::reaching_test
