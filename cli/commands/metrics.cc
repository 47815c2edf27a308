// tarcil metrics: what the roles of a cluster count and time.
#include <kj/async-io.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "client/metrics_sources.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "formats/metrics_text.h"
#include "metrics/metrics_port.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

struct MetricsFlags {
  std::vector<std::string> wanted;  // roles and names; empty: all
  std::string data, address;
  bool json = false;
};

// The sources that the flags ask for.
std::vector<MetricsSource> sourcesFor(const MetricsFlags& flags) {
  if (!flags.address.empty()) {
    if (const Status good = checkAddress(flags.address, AddressUse::kConnect); !good) {
      throw badInput("--address: " + good.error().message);
    }
    return {{"", flags.address, flags.address}};
  }
  if (const char* elsewhere = std::getenv("TARCIL_CLUSTER"); elsewhere != nullptr && flags.data.empty()) {
    throw badInput(
        "TARCIL_CLUSTER names the cluster at " + shown(elsewhere) +
        ", which does not tell where its roles' metrics are; write --address with what is given to a role as "
        "--metrics, or --data with the folder of a cluster on this machine");
  }
  auto all = readMetricsSources(requireInput(dataFolder(flags.data)));
  if (!all && all.error().code == ErrorCode::kUnavailable) throw Failure(kExitNoCluster, all.error().message);
  const std::vector<MetricsSource> sources = requireInput(std::move(all));
  const auto isMeant = [](const MetricsSource& source, const std::string& word) {
    return word == source.role || word == source.name;
  };
  std::string names;
  for (const MetricsSource& source : sources) names += (names.empty() ? "" : ", ") + source.name;
  for (const std::string& word : flags.wanted) {
    if (std::none_of(sources.begin(), sources.end(),
                     [&](const MetricsSource& source) { return isMeant(source, word); })) {
      throw badInput("'" + word + "' is no role and no process of this cluster; it has " + names);
    }
  }
  std::vector<MetricsSource> meant;
  for (const MetricsSource& source : sources) {
    if (flags.wanted.empty() || std::any_of(flags.wanted.begin(), flags.wanted.end(),
                                            [&](const std::string& word) { return isMeant(source, word); })) {
      meant.push_back(source);
    }
  }
  return meant;
}

Json jsonOf(const MetricsSource& source, const std::string& text) {
  Json metrics = Json::array();
  for (const MetricSample& sample : parseMetrics(text)) {
    metrics.push_back({{"name", sample.name}, {"labels", sample.labels}, {"value", sample.value}});
  }
  return {{"role", source.role}, {"name", source.name}, {"metrics", metrics}};
}

int show(const MetricsFlags& flags) {
  const std::vector<MetricsSource> sources = sourcesFor(flags);
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  Json json = Json::array();
  int code = kExitDone;
  for (const MetricsSource& source : sources) {
    try {
      const std::string text = fetchMetrics(net, source.address).wait(io.waitScope);
      if (flags.json) {
        json.push_back(jsonOf(source, text));
      } else {
        print((sources.size() > 1 ? "# " + source.name + "\n" : "") + text);
      }
    } catch (const kj::Exception& exception) {
      const Error error = fromException(exception);
      say(source.name + ": " + error.message);
      code = exitCodeOf(error.code);
    }
  }
  if (flags.json) printJson(json);
  return code;
}

}  // namespace

void addMetrics(CLI::App& app) {
  addCommand(
      app, "metrics",
      {"metrics [OPTIONS] [ROLE|NAME ...]", "Show the metrics of a cluster's roles.",
       "Prints the metrics of the processes that `tarcil up` started on this machine, or of those of a role "
       "(master, agent, monitor) or a name, in the text format that Prometheus reads. docs/metrics.md says "
       "what each means and what to do when it is high. Prometheus itself scrapes a role at the address "
       "given by its --metrics.",
       "  tarcil metrics master\n"
       "  tarcil metrics agent-1 --json\n"
       "  tarcil metrics --address 127.0.0.1:9100\n",
       "  0  all processes answered\n"
       "  1  what listens there is not a role\n"
       "  2  bad arguments\n"
       "  3  no cluster, or a process of it is out of reach\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<MetricsFlags>();
        command.add_option("wanted", flags->wanted, "Roles or names of processes. Default: all")
            ->type_name("ROLE|NAME");
        command.add_option("--data", flags->data, "Folder given to `tarcil up`.")->type_name("DIR");
        command
            .add_option("--address", flags->address, "One process, by the address that its --metrics gives.")
            ->type_name("ADDR");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return show(*flags); });
      });
}

}  // namespace tarcil
