// tarcil serve: run one role of a cluster in the foreground.
#include "cli/tarcild/serve.h"

#include <CLI/CLI.hpp>

#include "cli/command_line.h"
#include "cli/tarcild/commands.h"
#include "core/base/failure.h"
#include "core/base/names.h"

namespace tarcil {

void addRoleOptions(OptionTable& options, RoleFlags& flags) {
  options.optionalCount("--ready-fd", flags.readyFd, 0, 1'000'000,
                        "Write \"ready\" to this descriptor once the role serves.", "FD");
  options.flag("--supervised", flags.supervised, "Stop when the parent process ends.");
  options.text("--metrics", flags.metrics, "ADDR",
               "Serve metrics over HTTP at host:port or unix:PATH, in clear and to anyone who can connect: "
               "an address of other machines needs --insecure. Default: nowhere");
  options.flag("--insecure", flags.insecure,
               "Listen at, and reach, addresses of other machines without TLS where there is no identity: "
               "what is sent "
               "can be read and changed on the way.");
  options
      .text("--log-level", flags.logLevel, "LEVEL",
            "Lowest level that is logged: debug, info, warning or error.")
      .check(oneOf({kLogLevels.begin(), kLogLevels.end()}));
}

void requireName(const std::string& flag, const std::string& name) {
  if (const Status good = checkName(flag, name); !good) throw badInput(good.error().message);
}

void addServe(CLI::App& app) {
  addGroup(
      app, "serve",
      {"serve ROLE [OPTIONS]", summaryOf("serve"),
       "A cluster is one master, one or more agents, and one monitor per server, each a process of its own; "
       "gateways serve it over HTTP. "
       "`tarcil up` starts all of them on this machine for a first try.",
       "", ""},
      [](CLI::App& serve) {
        addServeMaster(serve);
        addServeAgent(serve);
        addServeMonitor(serve);
        addServeGateway(serve);
      });
}

}  // namespace tarcil
