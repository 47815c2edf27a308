#include "tests/torture/history.h"

#include <capnp/message.h>
#include <capnp/serialize-packed.h>

#include <limits>

#include "schema/convert.h"
#include "schema/convert_support.h"
#include "tests/torture/history.capnp.h"

namespace tarcil::torture {
namespace {

using convert::readNumbers;
using convert::text;
using convert::writeNumbers;
using Entry = wire::HistoryEntry;

template <typename W, typename T>
void writeList(const std::vector<T>& values, typename capnp::List<W>::Builder to) {
  for (uint32_t i = 0; i < values.size(); ++i) tarcil::write(values[i], to[i]);
}

template <typename T>
auto readList(T from) {
  std::vector<decltype(tarcil::read(from[0]))> values;
  values.reserve(from.size());
  for (auto value : from) values.push_back(tarcil::read(value));
  return values;
}

uint32_t count(const auto& values) {
  return static_cast<uint32_t>(values.size());
}

struct Write {
  Entry::Builder entry;

  void operator()(const Begun& e) {
    auto to = entry.initBegun();
    to.setSeed(e.seed);
    to.setKeepFinished(e.keepFinished);
  }
  void operator()(const MasterStarted&) { entry.setMasterStarted(); }
  void operator()(const MasterKilled&) { entry.setMasterKilled(); }
  void operator()(const AgentAttaching& e) {
    auto to = entry.initAgentAttaching();
    to.setCall(e.call);
    to.setLink(e.link);
    to.setAgent(text(e.agent));
    to.setEpoch(e.epoch);
  }
  void operator()(const AgentAttached& e) {
    auto to = entry.initAgentAttached();
    to.setCall(e.call);
    to.setEpoch(e.epoch);
    writeList<wire::JobAssignment>(e.jobs, to.initJobs(count(e.jobs)));
  }
  void operator()(const CommitSent& e) {
    auto to = entry.initCommitSent();
    to.setCall(e.call);
    to.setLink(e.link);
    tarcil::write(e.commit, to.initCommit());
  }
  void operator()(const CommitAnswered& e) {
    auto to = entry.initCommitAnswered();
    to.setCall(e.call);
    tarcil::write(e.answer, to.initAnswer());
  }
  void operator()(const News& e) {
    auto to = entry.initNews();
    to.setLink(e.link);
    writeList<wire::ServerUpdate>(e.servers, to.initServers(count(e.servers)));
    writeList<wire::JobAssignment>(e.jobs, to.initJobs(count(e.jobs)));
  }
  void operator()(const MonitorAttaching& e) {
    auto to = entry.initMonitorAttaching();
    to.setCall(e.call);
    to.setMonitor(text(e.monitor));
    writeList<wire::ServerFacts>(e.servers, to.initServers(count(e.servers)));
    writeList<wire::KnownTask>(e.tasks, to.initTasks(count(e.tasks)));
  }
  void operator()(const MonitorAttached& e) {
    auto to = entry.initMonitorAttached();
    to.setCall(e.call);
    writeNumbers<uint64_t>(e.drop, to.initDrop(count(e.drop)));
    writeNumbers<uint64_t>(e.stop, to.initStop(count(e.stop)));
  }
  void operator()(const ReportsSent& e) {
    auto to = entry.initReportsSent();
    to.setCall(e.call);
    writeList<wire::TaskReport>(e.reports, to.initReports(count(e.reports)));
  }
  void operator()(const ReportsAnswered& e) { entry.initReportsAnswered().setCall(e.call); }
  void operator()(const StopOrdered& e) {
    writeNumbers<uint64_t>(e.allocations, entry.initStopOrdered().initAllocations(count(e.allocations)));
  }
  void operator()(const CancelSent& e) {
    auto to = entry.initCancelSent();
    to.setCall(e.call);
    to.setJob(bytesOf(e.job));
  }
  void operator()(const CancelAnswered& e) { entry.initCancelAnswered().setCall(e.call); }
  void operator()(const Settled&) { entry.setSettled(); }
};

Event read(Entry::Reader entry) {
  switch (entry.which()) {
    case Entry::BEGUN:
      return Begun{entry.getBegun().getSeed(), entry.getBegun().getKeepFinished()};
    case Entry::MASTER_STARTED:
      return MasterStarted{};
    case Entry::MASTER_KILLED:
      return MasterKilled{};
    case Entry::AGENT_ATTACHING: {
      auto e = entry.getAgentAttaching();
      return AgentAttaching{e.getCall(), e.getLink(), text(e.getAgent()), e.getEpoch()};
    }
    case Entry::AGENT_ATTACHED: {
      auto e = entry.getAgentAttached();
      return AgentAttached{e.getCall(), e.getEpoch(), readList(e.getJobs())};
    }
    case Entry::COMMIT_SENT: {
      auto e = entry.getCommitSent();
      return CommitSent{e.getCall(), e.getLink(), tarcil::read(e.getCommit())};
    }
    case Entry::COMMIT_ANSWERED:
      return CommitAnswered{entry.getCommitAnswered().getCall(),
                            tarcil::read(entry.getCommitAnswered().getAnswer())};
    case Entry::NEWS: {
      auto e = entry.getNews();
      return News{e.getLink(), readList(e.getServers()), readList(e.getJobs())};
    }
    case Entry::MONITOR_ATTACHING: {
      auto e = entry.getMonitorAttaching();
      return MonitorAttaching{e.getCall(), text(e.getMonitor()), readList(e.getServers()),
                              readList(e.getTasks())};
    }
    case Entry::MONITOR_ATTACHED: {
      auto e = entry.getMonitorAttached();
      return MonitorAttached{e.getCall(), readNumbers<uint64_t>(e.getDrop()),
                             readNumbers<uint64_t>(e.getStop())};
    }
    case Entry::REPORTS_SENT:
      return ReportsSent{entry.getReportsSent().getCall(), readList(entry.getReportsSent().getReports())};
    case Entry::REPORTS_ANSWERED:
      return ReportsAnswered{entry.getReportsAnswered().getCall()};
    case Entry::STOP_ORDERED:
      return StopOrdered{readNumbers<uint64_t>(entry.getStopOrdered().getAllocations())};
    case Entry::CANCEL_SENT:
      return CancelSent{entry.getCancelSent().getCall(), readJobId(entry.getCancelSent().getJob())};
    case Entry::CANCEL_ANSWERED:
      return CancelAnswered{entry.getCancelAnswered().getCall()};
    case Entry::SETTLED:
      return Settled{};
  }
  KJ_FAIL_REQUIRE("an event of an unknown kind");
}

// Input files count against it too.
capnp::ReaderOptions options() {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = std::numeric_limits<uint64_t>::max();
  return options;
}

bool atEnd(kj::BufferedInputStream& from) {
  return from.tryGetReadBuffer().size() == 0;
}

}  // namespace

void writeEvent(const Event& event, kj::OutputStream& to) {
  capnp::MallocMessageBuilder message;
  std::visit(Write{message.initRoot<Entry>()}, event);
  capnp::writePackedMessage(to, message);
}

bool readEvent(kj::BufferedInputStream& from, Event& event) {
  if (atEnd(from)) return false;
  capnp::PackedMessageReader message(from, options());
  event = read(message.getRoot<Entry>());
  return true;
}

bool printEvent(kj::BufferedInputStream& from, std::string& text) {
  if (atEnd(from)) return false;
  capnp::PackedMessageReader message(from, options());
  text = kj::str(message.getRoot<Entry>()).cStr();
  return true;
}

}  // namespace tarcil::torture
