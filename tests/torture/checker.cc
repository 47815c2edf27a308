#include "tests/torture/checker.h"

namespace tarcil::torture {

void Checker::take(const Event& event) {
  problems_.at(++events_);
  std::visit([this](const auto& concrete) { note(concrete); }, event);
}

void Checker::note(const AgentAttaching& event) {
  commits_.take(event);
  states_.take(event);
}

void Checker::note(const AgentAttached& event) {
  ++tally_.attached;
  commits_.take(event);
  for (const JobAssignment& job : event.jobs) allocations_.tell(job);
}

void Checker::note(const CommitSent& event) {
  ++tally_.commits;
  commits_.take(event);
}

void Checker::note(const CommitAnswered& event) {
  ++tally_.answers;
  states_.take(event.answer);
  const SentCommit* sent = commits_.take(event);
  if (sent == nullptr) return;
  allocations_.grant(*sent);
  for (const Grant& grant : sent->answer->grants)
    ++(grant.verdict == Verdict::kGranted ? tally_.granted : tally_.refused);
}

void Checker::note(const News& event) {
  states_.take(event);
  for (const JobAssignment& job : event.jobs) allocations_.tell(job);
}

void Checker::note(const ReportsAnswered& event) {
  ++tally_.reports;
  allocations_.take(event);
}

std::vector<std::string> Checker::finish(const WholeStore& store) {
  allocations_.checkOwners();
  checkStoreAgainst({commits_, allocations_, states_, cancelled_, keepFinished_}, store, problems_);
  return problems_.list();
}

}  // namespace tarcil::torture
