// tarcil buckets: servers by like contention, and how fast units come free there.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct BucketFlags {
  ContextFlags cluster;
  bool json = false;
};

using Bucket = wire::Bucket::Reader;

Json jsonOf(Bucket bucket) {
  return {{"id", bucket.getNumber()},
          {"platform", bucket.getPlatform().cStr()},
          {"servers", bucket.getServers()},
          {"free", bucket.getFree()},
          {"mean", jsonByResource(readPressure(bucket.getMean()))},
          {"entered_per_hour", bucket.getEnteredPerHour()}};
}

void addRow(Table& table, Bucket bucket) {
  table.add({std::to_string(bucket.getNumber()), bucket.getPlatform().cStr(),
             std::to_string(bucket.getServers()), std::to_string(bucket.getFree()),
             fixed(bucket.getEnteredPerHour(), 0), pressureText(readPressure(bucket.getMean()))});
}

int show(const BucketFlags& flags) {
  Cluster cluster(flags.cluster);
  Json json = Json::array();
  Table table({"Bucket", "Platform", "Servers", "Free RUs", "Entered/h", "Mean contention"});
  uint32_t next = 0;
  do {
    auto answer = cluster.ask([next](Session& session) {
      auto request = session.user.bucketsRequest();
      request.setFirst(next);
      return request.send();
    });
    for (Bucket bucket : answer.getBuckets()) {
      flags.json ? json.push_back(jsonOf(bucket)) : addRow(table, bucket);
    }
    next = answer.getNext();
  } while (next != 0);
  flags.json ? printJson(json) : print(table.empty() ? "" : table.text());
  if (json.empty() && table.empty()) say("no server takes tasks");
  return kExitDone;
}

}  // namespace

void addBuckets(CLI::App& app) {
  addCommand(
      app, "buckets",
      {"buckets [OPTIONS]", "Show servers grouped by similar contention, and how fast units come free there.",
       "The master sorts the servers of each platform that take tasks into buckets of similar contention. "
       "Free RUs are units that no task holds; entered per hour are those that came free in a bucket or "
       "moved into it because the contention on their server changed, less those that moved out, over the "
       "last two hours. From these `tarcil queue` predicts when a job should start.",
       "  tarcil buckets\n"
       "  tarcil buckets --json\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<BucketFlags>();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return show(*flags); });
      });
}

}  // namespace tarcil
