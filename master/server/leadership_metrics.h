// What a master that leads or stands by shows of that; docs/metrics.md says what to make of it.
#pragma once

#include <string>

#include "master/server/standing.h"
#include "metrics/metric_set.h"

namespace tarcil {

class LeadershipMetrics final {
 public:
  // Of a store in etcd: what its records lack. 0 of a store in a folder.
  struct Journal {
    uint64_t batches = 0, bytes = 0;
  };

  std::string text(const MasterStanding& standing, const Journal& journal) {
    leads_.Set(standing.leads ? 1 : 0);
    term_.Set(static_cast<double>(standing.term));
    holds_.Set(standing.leads || standing.hasState ? 1 : 0);
    behind_.Set(seconds(standing.behind));
    batches_.Set(static_cast<double>(journal.batches));
    bytes_.Set(static_cast<double>(journal.bytes));
    return set_.text();
  }

 private:
  MetricSet set_;
  prometheus::Gauge& leads_ =
      set_.gauge("tarcil_master_leads", "1 where this master leads, 0 where it stands by.");
  prometheus::Gauge& term_ = set_.gauge(
      "tarcil_master_term",
      "Term of the master that leads, which is another with each; 0 where there is one master only.");
  prometheus::Gauge& holds_ =
      set_.gauge("tarcil_master_holds_state", "1 where this master has the cluster's state in memory.");
  prometheus::Gauge& behind_ = set_.gauge("tarcil_master_standby_behind_seconds",
                                          "How old what a standby holds may be; 0 of a master that leads.");
  prometheus::Gauge& batches_ =
      set_.gauge("tarcil_master_journal_batches", "Batches in etcd that are not in its records yet.");
  prometheus::Gauge& bytes_ =
      set_.gauge("tarcil_master_journal_bytes", "Changes that these batches come to.");
};

}  // namespace tarcil
