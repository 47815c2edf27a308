// Collects the actions that one event leads to: everything to be made durable comes before everything that
// leaves the process.
#pragma once

#include <boost/container/small_vector.hpp>
#include <iterator>
#include <utility>
#include <vector>

#include "master/logic/events.h"

namespace tarcil::master {

// As many actions as an event usually leads to. One takes a kilobyte, so that a vector that grows from one to
// ten of them spends its time moving them.
inline constexpr size_t kUsualActions = 12;

// Lives for one event. `actions` outlives it.
class Outbox {
 public:
  explicit Outbox(std::vector<Action>& actions) : actions_(actions) {}

  void put(Record record) { actions_.push_back(Persist{Put{std::move(record)}}); }
  void erase(EraseAgent agent) { actions_.push_back(Persist{std::move(agent)}); }
  void erase(EraseAnswer answer) { actions_.push_back(Persist{std::move(answer)}); }
  void erase(EraseJob job) { actions_.push_back(Persist{job}); }
  void erase(EraseUpload upload) { actions_.push_back(Persist{upload}); }
  void erase(EraseFiles files) { actions_.push_back(Persist{files}); }
  void erase(EraseProfile profile) { actions_.push_back(Persist{std::move(profile)}); }
  void erase(EraseProfiling profiling) { actions_.push_back(Persist{std::move(profiling)}); }
  void erase(EraseCron cron) { actions_.push_back(Persist{std::move(cron)}); }
  void erase(EraseMember member) { actions_.push_back(Persist{std::move(member)}); }
  void erase(EraseUser user) { actions_.push_back(Persist{std::move(user)}); }
  void erase(EraseAccount account) { actions_.push_back(Persist{std::move(account)}); }
  void erase(EraseToken token) { actions_.push_back(Persist{token}); }
  void erase(EraseSecret secret) { actions_.push_back(Persist{std::move(secret)}); }
  void erase(EraseObserved observed) { actions_.push_back(Persist{std::move(observed)}); }

  void audit(audit::Entry entry) { actions_.push_back(Audit{std::move(entry)}); }

  // Whether anything was put or erased so far. Before close().
  bool hasStored() const { return !actions_.empty(); }

  // Held back until close(), in order.
  void send(Action action) { held_.push_back(std::move(action)); }

  // Nothing may be put or erased afterwards.
  void close() {
    actions_.insert(actions_.end(), std::make_move_iterator(held_.begin()),
                    std::make_move_iterator(held_.end()));
    held_.clear();
  }

 private:
  std::vector<Action>& actions_;
  boost::container::small_vector<Action, 8> held_;
};

}  // namespace tarcil::master
