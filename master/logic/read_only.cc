#include "master/logic/read_only.h"

namespace tarcil::master {
namespace {

constexpr const char* kReadOnly =
    "this master is read-only (--read-only): it shows what its store holds, and changes nothing";

// Roles try again and again until a master takes them.
Error attachError() {
  Error error = readOnlyError();
  error.message +=
      "; what runs goes on. Commands that show something reach it at its own address (--cluster)";
  return error;
}

struct Refuser {
  Outbox& out;

  void operator()(const AgentAttached& event) const {
    out.send(AnswerAgentAttached{event.request, attachError()});
  }
  void operator()(const NumbersAsked& event) const {
    out.send(AnswerNumbers{event.request, readOnlyError()});
  }
  void operator()(const MoreJobsAsked& event) const {
    out.send(AnswerMoreJobs{event.request, readOnlyError()});
  }
  void operator()(const MonitorAttached& event) const { refuseServers(event.request); }
  void operator()(const MoreServersAttached& event) const { refuseServers(event.request); }
  void refuseServers(RequestId request) const {
    out.send(AnswerMonitorAttached{.request = request, .status = attachError(), .drop = {}, .stop = {}});
  }
  void operator()(const CommitArrived& event) const {
    out.send(
        AnswerCommit{event.request, {event.commit.sequence, CommitAnswer::Outcome::kSuperseded, {}, {}, {}}});
  }
  void operator()(const PieceArrived& event) const { out.send(AnswerPiece{event.request, readOnlyError()}); }
  void operator()(const ReportsArrived& event) const {
    out.send(AnswerReports{event.request, readOnlyError()});
  }
  void operator()(const LeaseAsked& event) const { out.send(AnswerLease{event.request, readOnlyError()}); }
  void operator()(const MembersChanged& event) const {
    out.send(AnswerMembers{event.request, readOnlyError()});
  }
  void operator()(const SecretsAsked& event) const {
    out.send(AnswerSecrets{event.request, readOnlyError()});
  }
  void operator()(const PoolReported& event) const { out.send(AnswerPools{event.request, readOnlyError()}); }
  template <typename Other>
  void operator()(const Other& event) const {
    if constexpr (requires { event.request; }) out.send(Answer{event.request, readOnlyError()});
  }
};

}  // namespace

Error readOnlyError() {
  return {ErrorCode::kConflict, kReadOnly};
}

void refuse(EventContext& context, const Event& event) {
  std::visit(Refuser{context.out}, event);
  context.out.close();
}

}  // namespace tarcil::master
