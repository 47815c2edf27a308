// The states of servers that a master told.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/torture/history.h"
#include "tests/torture/problems.h"

namespace tarcil::torture {

// Problems: a server's number that stands for another one later, a version that is told with two states, a
// state whose free units and sum of pressure contradict each other (agents of a torture have every task cause
// as much pressure on "core" as it has units).
class StateLedger final {
 public:
  explicit StateLedger(Problems& problems) : problems_(problems) {}

  void take(const AgentAttaching& event);
  void take(const News& event);
  void take(const CommitAnswer& answer);
  void settled() { settled_ = true; }

  const std::map<std::string, ServerId>& numbers() const { return numbers_; }
  const std::map<ServerId, ServerFacts>& facts() const { return facts_; }
  // The last state of each server that each link was told which attached after all was settled.
  const std::map<LinkId, std::map<ServerId, ServerStatus>>& last() const { return last_; }

 private:
  void take(const ServerUpdate& update);
  void checkSum(const ServerUpdate& update, uint32_t rus);

  Problems& problems_;
  bool settled_ = false;
  std::map<std::string, ServerId> numbers_;
  std::map<ServerId, ServerFacts> facts_;
  std::map<std::pair<ServerId, uint64_t>, ServerStatus> versions_;
  std::map<LinkId, std::map<ServerId, ServerStatus>> last_;
};

}  // namespace tarcil::torture
