#include "tests/torture/commit_ledger.h"

#include <algorithm>

namespace tarcil::torture {
namespace {

using Outcome = CommitAnswer::Outcome;

std::string text(const CommitAnswer& answer) {
  std::string said = "outcome " + std::to_string(static_cast<int>(answer.outcome));
  if (!answer.problem.empty()) said += " (" + answer.problem + ")";
  for (const Grant& grant : answer.grants) {
    said += std::string(", ") + name(grant.verdict);
    if (grant.allocation != 0) said += " " + std::to_string(grant.allocation);
  }
  return said;
}

}  // namespace

std::string text(const CommitKey& key) {
  return "commit " + std::to_string(std::get<2>(key)) + " of " + std::get<0>(key) + ", epoch " +
         std::to_string(std::get<1>(key));
}

// --- Attaching --------------------------------------------------------------------------------------------

void CommitLedger::take(const AgentAttaching& event) {
  Agent& agent = agents_[event.agent];
  agent.links.push_back(event.link);
  links_[event.link] = {event.agent, 0, problems_.now(), kNoEvent};
  attaching_[event.call] = {event.link, event.epoch, agent.highestEpoch};
}

void CommitLedger::take(const AgentAttached& event) {
  const AttachCall call = attaching_.at(event.call);
  Link& link = links_.at(call.link);
  Agent& agent = agents_.at(link.agent);
  link.epoch = event.epoch;
  link.attached = problems_.now();
  const std::string what = link.agent + " was given epoch " + std::to_string(event.epoch);
  if (event.epoch != call.asked) {
    if (event.epoch <= call.highestEpoch)
      problems_.add(what + " as a new one, after epoch " + std::to_string(call.highestEpoch));
    if (!agent.newEpochs.insert(event.epoch).second) problems_.add(what + " twice");
  } else if (event.epoch < call.highestEpoch) {
    problems_.add(what + " again, after epoch " + std::to_string(call.highestEpoch));
  }
  agent.highestEpoch = std::max(agent.highestEpoch, event.epoch);
  if (agent.newestAttached == 0 || links_.at(agent.newestAttached).attaching < link.attaching)
    agent.newestAttached = call.link;
}

// Certainly: another one asked to attach after this one was attached, and has been answered.
bool CommitLedger::isReplaced(const Link& link) const {
  return links_.at(agents_.at(link.agent).newestAttached).attaching > link.attached;
}

// Another one asked to attach and was not answered before this one asked: connections are taken in any order,
// so that one may have come to the master after this one.
bool CommitLedger::mayBeReplaced(LinkId link) const {
  const Link& of = links_.at(link);
  return std::ranges::any_of(agents_.at(of.agent).links, [&](LinkId other) {
    return other != link && links_.at(other).attached > of.attaching;
  });
}

// --- Commits ----------------------------------------------------------------------------------------------

void CommitLedger::take(const CommitSent& event) {
  const Link& link = links_.at(event.link);
  const CommitKey key{link.agent, link.epoch, event.commit.sequence};
  Epoch& epoch = epochs_[{link.agent, link.epoch}];
  CommitCall& call = calls_[event.call];
  call = {key, event.commit.sequence > epoch.lastSent + 1, isReplaced(link), event.link};
  if (call.skips) return;
  epoch.lastSent = std::max(epoch.lastSent, event.commit.sequence);
  epoch.acknowledged = std::max(epoch.acknowledged, event.commit.answered);
  if (commits_.try_emplace(key, SentCommit{event.commit, problems_.now(), {}}).second && event.commit.newJob)
    submissions_[event.commit.job].push_back(key);
}

const SentCommit* CommitLedger::take(const CommitAnswered& event) {
  const CommitCall call = calls_.at(event.call);
  const std::string what = text(call.key);
  CommitAnswer answer = event.answer;
  answer.servers.clear();
  if (answer.sequence != std::get<2>(call.key))
    problems_.add(what + " was answered as commit " + std::to_string(answer.sequence));
  if (answer.outcome == Outcome::kSuperseded) {
    if (!mayBeReplaced(call.link))
      problems_.add(what + " was answered superseded, and no other connection asked to speak for the agent");
    return nullptr;
  }
  if (call.replaced) {
    problems_.add(what + " came on a connection that had been replaced, and was answered: " + text(answer));
    return nullptr;
  }
  if (call.skips) {
    if (answer.outcome != Outcome::kRefused)
      problems_.add(what + " came before the one before it, and was answered: " + text(answer));
    return nullptr;
  }
  SentCommit& sent = commits_.at(call.key);
  if (sent.answer) {
    checkRepeat(sent, call, answer);
    return nullptr;
  }
  checkForm(sent.commit, answer);
  noteJob(call.key, sent.commit, answer);
  sent.answer = std::move(answer);
  return &sent;
}

void CommitLedger::checkRepeat(const SentCommit& sent, const CommitCall& call, const CommitAnswer& answer) {
  if (answer == *sent.answer) return;
  const bool isKnownToBeAnswered =
      sent.commit.sequence <= acknowledged(std::get<0>(call.key), std::get<1>(call.key));
  if (answer.outcome == Outcome::kRefused && answer.grants.empty() && isKnownToBeAnswered) return;
  problems_.add(text(call.key) + " was answered: " + text(*sent.answer) + "; its repeat: " + text(answer));
}

void CommitLedger::checkForm(const Commit& commit, const CommitAnswer& answer) {
  const std::string what = "commit " + std::to_string(commit.sequence);
  const size_t expected = answer.outcome == Outcome::kOk ? commit.claims.size() : 0;
  if (answer.grants.size() != expected) {
    return problems_.add(what + ": " + std::to_string(answer.grants.size()) + " verdicts on " +
                         std::to_string(expected) + " claims");
  }
  size_t granted = 0;
  for (size_t i = 0; i < answer.grants.size(); ++i) {
    const Grant& grant = answer.grants[i];
    if (grant.verdict != Verdict::kGranted) {
      if (grant.allocation != 0 || !grant.rus.empty()) problems_.add(what + ": a refused claim has units");
      continue;
    }
    ++granted;
    const std::set<RuIndex> units(grant.rus.begin(), grant.rus.end());
    if (grant.allocation == 0 || units.size() != commit.claims[i].rus ||
        grant.rus.size() != commit.claims[i].rus) {
      problems_.add(what + ": allocation " + std::to_string(grant.allocation) + " has " +
                    std::to_string(units.size()) + " units, " + std::to_string(commit.claims[i].rus) +
                    " were claimed");
    }
  }
  if (commit.gang && granted != 0 && granted != answer.grants.size())
    problems_.add(what + ": a gang was granted in part");
}

void CommitLedger::noteJob(const CommitKey& key, const Commit& commit, const CommitAnswer& answer) {
  if (answer.outcome == Outcome::kOk && commit.newJob && !made_.insert(commit.job).second)
    problems_.add(text(key) + " made job " + toString(commit.job) + ", which was there already");
  const auto found = submissions_.find(commit.job);
  const size_t others = (found == submissions_.end() ? 0 : found->second.size()) - (commit.newJob ? 1 : 0);
  const bool saysItIsThere =
      answer.outcome == Outcome::kJobExists || (answer.outcome == Outcome::kOk && !commit.newJob);
  if (saysItIsThere && others == 0)
    problems_.add(text(key) + " found job " + toString(commit.job) + ", which nobody submitted");
}

// --- What is known ----------------------------------------------------------------------------------------

std::map<std::string, uint64_t> CommitLedger::epochs() const {
  std::map<std::string, uint64_t> epochs;
  for (const auto& [name, agent] : agents_) epochs[name] = agent.highestEpoch;
  return epochs;
}

uint64_t CommitLedger::acknowledged(const std::string& agent, uint64_t epoch) const {
  const auto found = epochs_.find({agent, epoch});
  return found == epochs_.end() ? 0 : found->second.acknowledged;
}

std::vector<const JobRecord*> CommitLedger::submissions(const JobId& job) const {
  std::vector<const JobRecord*> records;
  const auto found = submissions_.find(job);
  if (found == submissions_.end()) return records;
  for (const CommitKey& key : found->second) {
    const SentCommit& sent = commits_.at(key);
    if (!sent.answer || sent.answer->outcome == Outcome::kOk) records.push_back(&sent.commit.newJob->record);
  }
  return records;
}

}  // namespace tarcil::torture
