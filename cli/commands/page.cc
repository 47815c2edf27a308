// tarcil page: where the cluster's page is.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "client/page_address.h"
#include "core/base/failure.h"
#include "rpc/address.h"

namespace tarcil {
namespace {

struct PageFlags {
  ContextFlags cluster;
  std::string gateway;
  bool json = false;
};

std::string gatewayOf(const PageFlags& flags) {
  if (!flags.gateway.empty()) {
    if (const Status good = checkAddress(flags.gateway, AddressUse::kConnect); !good)
      throw badInput("--gateway: " + good.error().message);
    return flags.gateway;
  }
  const auto context = findContext(flags.cluster);
  if (context && !context->page.empty()) return context->page;
  throw Failure(kExitNoCluster,
                "no page of this cluster is known: `tarcil up` starts one unless it is told --no-page; of "
                "another cluster, give "
                "--gateway HOST:PORT");
}

int show(const PageFlags& flags) {
  Cluster cluster(flags.cluster);
  const std::string address =
      cluster.wait(fetchPageAddress(cluster.net(), gatewayOf(flags), cluster.token()));
  if (flags.json) {
    printJson({{"page", address}});
  } else {
    print(address + "\n");
  }
  return kExitDone;
}

}  // namespace

void addPage(CLI::App& app) {
  addCommand(app, "page",
             {"page [OPTIONS]", "Print the address of the cluster's page, which signs you in.",
              "The word behind # is good for one sign-in within five minutes, and for nothing else: what "
              "stands behind # is sent to no "
              "server, and your token is not in it. Open the address in a browser; when its session has "
              "ended, print another.",
              "  tarcil page\n"
              "  tarcil page --gateway tarcil.example.org:8080 --cluster 10.0.0.1:7101 --token-file token\n",
              ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<PageFlags>();
               command
                   .add_option("--gateway", flags->gateway, "Gateway to ask. Default: that of `tarcil up`")
                   ->type_name("HOST:PORT");
               addJsonFlag(command, flags->json);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return show(*flags); });
             });
}

}  // namespace tarcil
