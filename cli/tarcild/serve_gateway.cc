// tarcil serve gateway
#include <CLI/CLI.hpp>

#include "cli/tarcild/serve.h"
#include "core/base/failure.h"
#include "deploy/roles/roles.h"

namespace tarcil {
namespace {

struct Gateway {
  explicit Gateway(CLI::App& command) : table(command) {}

  OptionTable table;
  GatewayFlags flags;
};

constexpr DurationRange kRefresh = {std::chrono::milliseconds(10), std::chrono::minutes(1)};
constexpr DurationRange kSessionTime = {std::chrono::minutes(1), std::chrono::hours(24 * 30)};
constexpr DurationRange kReplayTime = {std::chrono::seconds(1), std::chrono::hours(24)};
constexpr DurationRange kPeerTime = {std::chrono::milliseconds(100), std::chrono::minutes(10)};

void addOptions(Gateway& gateway) {
  OptionTable& table = gateway.table;
  GatewayFlags& flags = gateway.flags;
  gateway::GatewayOptions& options = flags.options;
  table.text("--listen", flags.listen, "ADDR", "host:port or unix:PATH for browsers and programs.")
      .required();
  table.text("--cluster", flags.cluster, "ADDR", "Addresses of agents, with commas between them.").required();
  table
      .text("--token-file", flags.tokenFile, "FILE",
            "File with a token of role operate: for what the gateway follows. What users ask, it asks with "
            "their own tokens.")
      .required();
  table.texts(
      "--host", options.hosts, "NAME",
      "Name under which it is reached, besides --listen: what a Host header may say; may be repeated.");
  table.text("--data", flags.data, "DIR",
             "Folder whose identity/authority.pem says which agents to believe, as `tarcil join` writes it. "
             "Default: none.");
  table.text("--key-file", options.keyFile, "FILE",
             "64 hexadecimal digits, the key of sessions: gateways with the same one take each other's. "
             "Default: one of this process");
  table.duration("--refresh", options.refresh, "How long an answer is repeated to the same user.", kRefresh);
  table.size("--cache-size", options.cacheBytes, "Most space for answers that are repeated.");
  table.duration("--session-time", options.sessionTime, "After which a browser has to sign in again.",
                 kSessionTime);
  table.count("--threads", options.threads, 1, 64, "Threads that ask the cluster.");
  table.count("--events", options.events.events, 100, 10'000'000,
              "Events that are remembered, for streams that go on.");
  table.size("--events-size", options.events.bytes, "Most space for these.");
  table.count("--streams", options.streams, 1, 100'000, "Streams that are open at once.");
  table.count("--streams-of-user", options.streamsOfUser, 1, 100'000, "Of these, one user's.");
  table.count("--jobs", options.jobs, 1'000, 10'000'000, "Jobs of which it has a copy, the newest.");
  table.size("--body-size", options.bodyBytes, "Largest body of a request.");
  table.count("--connections", options.connections, 1, 1'000'000, "Connections at once.");
  table.count("--connections-of-address", options.connectionsOfAddress, 1, 1'000'000,
              "Of these, from one address.");
  table.duration("--request-time", options.requestTime, "Within which a request has to be sent.", kPeerTime);
  table.duration("--read-time", options.readTime,
                 "Within which what is sent has to be read, and the next request begun.", kPeerTime);
  table.text(
      "--recordings", options.replay.folder, "DIR",
      "Folder in which the last 24 h of the cluster are kept, so that operators can see on the page what "
      "they would have been under other settings (docs/http.md). Default: they are not");
  table.size("--recordings-size", flags.recordingBytes, "Most space for these; the oldest go.");
  table.duration("--replay-time", options.replay.time, "After which a replay of them is given up.",
                 kReplayTime);
  table.size("--replay-memory", options.replay.memoryBytes, "Most memory of such a replay.");
  addRoleOptions(table, flags.role);
}

}  // namespace

void addServeGateway(CLI::App& serve) {
  addCommand(serve, "gateway",
             {"serve gateway [OPTIONS] --listen ADDR --cluster ADDR --token-file FILE",
              "Serve the page, and HTTP for programs: any number per cluster.",
              "Serves over HTTP what the commands show and do, and the page. Users sign in with their own "
              "tokens, and can do what these "
              "allow. It stores nothing on disk but, with --recordings, the last day of the cluster.",
              "  tarcil serve gateway --listen 127.0.0.1:8080 --cluster 10.0.0.1:7101 \\\n"
              "      --token-file /etc/tarcil/operate.token --host tarcil.example.org\n",
              kRoleExits},
             [](CLI::App& command) {
               auto gateway = std::make_shared<Gateway>(command);
               addOptions(*gateway);
               onRun(command, [gateway]() {
                 gateway->table.read();
                 return serveGateway(gateway->flags);
               });
             });
}

}  // namespace tarcil
