// What roles count, as an operator reads it, and what docs/metrics.md says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "formats/metrics_text.h"
#include "tests/support/cluster.h"

namespace tarcil::metrics_test {

using testing::HasSubstr;

std::string serversFile(const TraceFolder& folder) {
  folder.write("servers.yaml", "servers: [{name: \"s{n}\", count: 2, rus: 2}]\n");
  return folder.at("servers.yaml");
}

// The value of the one sample of this name and label, of all processes that have it together.
double valueOf(const Json& sources, const std::string& name, const std::string& labelValue = "") {
  double sum = 0;
  size_t found = 0;
  for (const Json& source : sources) {
    for (const Json& sample : source["metrics"]) {
      const Json& labels = sample["labels"];
      const std::string label = labels.empty() ? "" : labels.front().get<std::string>();
      if (sample["name"] != name || label != labelValue) continue;
      sum += sample["value"].get<double>();
      ++found;
    }
  }
  EXPECT_GT(found, 0u) << name << " " << labelValue;
  return sum;
}

// The metrics in the tables of the document: | `name` | type | help | ... |
std::map<std::string, MetricDescription> documentedMetrics() {
  std::map<std::string, MetricDescription> metrics;
  std::ifstream file(TARCIL_SOURCE_DIR "/docs/metrics.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::stringstream rest(line.substr(2));
    for (std::string cell; std::getline(rest, cell, '|');) {
      const size_t end = cell.find_last_not_of(' ');
      const size_t begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    }
    EXPECT_EQ(cells.size(), 4u) << line;
    EXPECT_FALSE(cells.back().empty()) << line;
    metrics[cells[0].substr(1, cells[0].size() - 2)] = {cells[1], cells[2]};
  }
  return metrics;
}

TEST(Metrics, AreWhatTheDocumentSaysAndNoOthers) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder), .hasPage = true});
  const ProcessResult all = cluster.run({"metrics"});
  ASSERT_EQ(all.exitCode, 0) << all.err;
  const auto served = describedMetrics(all.out), documented = documentedMetrics();
  const std::string earlier = "Earlier name of ";
  for (const auto& [name, metric] : served) {
    if (metric.help.starts_with(earlier)) {  // of one that is served too
      EXPECT_TRUE(
          served.contains(metric.help.substr(earlier.size(), metric.help.size() - earlier.size() - 1)));
      EXPECT_FALSE(documented.contains(name)) << name;
      continue;
    }
    const auto found = documented.find(name);
    ASSERT_NE(found, documented.end()) << name << " is not documented";
    EXPECT_EQ(found->second.type, metric.type) << name;
    EXPECT_EQ(found->second.help, metric.help) << name;
  }
  for (const auto& [name, metric] : documented)
    EXPECT_TRUE(served.contains(name)) << name << " is not served";
}

std::string contentsOf(const std::string& file) {
  std::ifstream stream(TARCIL_SOURCE_DIR "/" + file);
  EXPECT_TRUE(stream.is_open()) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A metric as queries of the dashboard and of the alerts name it, with the labels that they ask for, of those
// that are tarcil's own: Prometheus adds others.
struct NamedMetric {
  std::string name;
  std::map<std::string, std::string> labels;

  auto operator<=>(const NamedMetric&) const = default;
};

std::set<NamedMetric> namedMetrics(const std::string& text) {
  static const std::regex kMetric(R"((tarcil_[a-z0-9_]+)(\{([^}]*)\})?)");
  static const std::regex kLabel(R"(([a-z]+)=\\?"([^"\\]+))");
  std::set<NamedMetric> named;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), kMetric); it != std::sregex_iterator();
       ++it) {
    NamedMetric metric{(*it)[1], {}};
    const std::string labels = (*it)[3];
    for (auto label = std::sregex_iterator(labels.begin(), labels.end(), kLabel);
         label != std::sregex_iterator(); ++label) {
      metric.labels[(*label)[1]] = (*label)[2];
    }
    named.insert(metric);
  }
  return named;
}

TEST(Metrics, AreThereThatTheDashboardAndTheAlertsAskFor) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder), .hasPage = true});
  // A task that others can disturb, so that its server has slack.
  const std::string job = cluster.submit(
      "command: [sleep, '60']\nprofile: {application: sort, caused: {llc: 60}, tolerated: {llc: 30}}\n");
  cluster.until("the job runs", [&]() { return cluster.status(job)["state"] == "running"; });
  std::vector<MetricSample> samples;
  cluster.until("a survey has seen it", [&]() {
    samples = parseMetrics(cluster.run({"metrics"}).out);
    return std::ranges::any_of(samples, [](const MetricSample& sample) {
      return sample.name == "tarcil_master_server_least_slack";
    });
  });
  const auto isThere = [&samples](const NamedMetric& metric) {
    return std::ranges::any_of(samples, [&metric](const MetricSample& sample) {
      return sample.name == metric.name && std::ranges::all_of(metric.labels, [&sample](const auto& label) {
               const auto found = sample.labels.find(label.first);
               return found != sample.labels.end() && found->second == label.second;
             });
    });
  };
  for (const char* file : {"integrations/prometheus/tarcil.rules.yml", "integrations/grafana/tarcil.json"}) {
    const std::set<NamedMetric> named = namedMetrics(contentsOf(file));
    EXPECT_GT(named.size(), 20u) << file;
    for (const NamedMetric& metric : named) {
      EXPECT_TRUE(isThere(metric)) << file << ": " << metric.name << " "
                                   << (metric.labels.empty() ? "" : metric.labels.begin()->second);
    }
  }
}

TEST(Metrics, ShowWhoCausesWhatAndWhereItIsTight) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder)});
  const std::string job = cluster.submit(
      "command: [sleep, '60']\ntasks: 2\nprofile: {application: sort, caused: {llc: 60}, tolerated: {llc: "
      "30}}\n");
  cluster.until("both run", [&]() {
    return valueOf(cluster.json({"metrics", "master"}), "tarcil_master_running_tasks", "at_target") == 2;
  });
  const Json master = cluster.json({"metrics", "master"});
  for (const char* server : {"s1", "s2"}) {  // on one they would disturb each other
    EXPECT_EQ(valueOf(master, "tarcil_master_server_contention", server), 60);
    EXPECT_EQ(valueOf(master, "tarcil_master_server_least_slack", server), 30);
  }
  EXPECT_EQ(valueOf(master, "tarcil_master_least_slack", "llc"), 30);
  EXPECT_EQ(valueOf(master, "tarcil_master_application_tasks", "sort"), 2);
  EXPECT_EQ(valueOf(master, "tarcil_master_satisfaction", "promised"), 1);
  EXPECT_EQ(valueOf(master, "tarcil_master_satisfaction", "now"), 1);
  EXPECT_EQ(valueOf(master, "tarcil_master_sharing_rus", "used"), 2);
  EXPECT_EQ(valueOf(master, "tarcil_master_sharing_rus", "alone"), 2);
}

TEST(Metrics, FollowAJobThroughTheRoles) {
  TraceFolder folder;
  ManualCluster cluster({.agents = 2, .emulate = serversFile(folder)});
  EXPECT_EQ(cluster.ended(cluster.submit("command: ['true']\ntasks: 3\n"))["state"], "done");
  cluster.until("the monitor has reported all", [&]() {
    return valueOf(cluster.json({"metrics", "monitor"}), "tarcil_monitor_reports_under_way") == 0;
  });
  const Json master = cluster.json({"metrics", "master"});
  EXPECT_EQ(valueOf(master, "tarcil_master_jobs", "done"), 1);
  EXPECT_EQ(valueOf(master, "tarcil_master_claims_total", "granted"), 3);
  EXPECT_EQ(valueOf(master, "tarcil_master_rus", "free"), 4);
  EXPECT_EQ(valueOf(master, "tarcil_master_agent_leases"), 2);
  EXPECT_EQ(valueOf(master, "tarcil_master_snapshot_seconds_count"), 2);
  EXPECT_GT(valueOf(master, "tarcil_master_sync_seconds_count"), 0);
  EXPECT_GT(valueOf(master, "tarcil_master_store_bytes"), 0);
  const Json agents = cluster.json({"metrics", "agent"});
  EXPECT_EQ(agents.size(), 2u);
  EXPECT_EQ(valueOf(agents, "tarcil_agent_submissions_total", "taken"), 1);
  EXPECT_EQ(valueOf(agents, "tarcil_agent_wait_seconds_count"), 3);
  EXPECT_EQ(valueOf(agents, "tarcil_agent_launches_total", "accepted"), 3);
  EXPECT_EQ(valueOf(agents, "tarcil_agent_decision_seconds_count"),
            valueOf(agents, "tarcil_agent_decisions_total"));
  const Json monitor = cluster.json({"metrics", "monitor"});
  EXPECT_EQ(valueOf(monitor, "tarcil_monitor_start_seconds_count"), 3);
  EXPECT_EQ(valueOf(monitor, "tarcil_monitor_task_ends_total", "exited"), 3);
}

TEST(Metrics, TellThatAgentsHoldTheirCopiesAgainstTheMasters) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder)});
  EXPECT_EQ(cluster.ended(cluster.submit("command: ['true']\n"))["state"], "done");
  EXPECT_TRUE(cluster.json({"agent", "list"})[0]["behind_ms"].is_number());
  cluster.until("the agent has compared", [&]() {
    return valueOf(cluster.json({"metrics", "agent"}), "tarcil_agent_copy_comparisons_total") > 0;
  });
  EXPECT_EQ(valueOf(cluster.json({"metrics", "agent"}), "tarcil_agent_copy_mismatches_total"), 0);
}

TEST(Metrics, NameTheProcessThatIsOutOfReachAndShowTheOthers) {
  TraceFolder folder;
  ManualCluster cluster({.emulate = serversFile(folder)});
  cluster.kill("agent-1");
  cluster.until("the master has noticed", [&]() {
    return valueOf(cluster.json({"metrics", "master"}), "tarcil_master_agent_leases") == 0;
  });
  const ProcessResult all = cluster.run({"metrics", "agent-1", "master"});
  EXPECT_EQ(all.exitCode, 3);
  EXPECT_THAT(all.err, HasSubstr("agent-1: cannot connect"));
  EXPECT_THAT(all.out, HasSubstr("tarcil_master_agent_leases 0"));
  EXPECT_THAT(all.out, testing::Not(HasSubstr("feed_behind")));
  const ProcessResult unknown = cluster.run({"metrics", "agent-7"});
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_THAT(unknown.err, HasSubstr("agent-1"));
}

}  // namespace tarcil::metrics_test
