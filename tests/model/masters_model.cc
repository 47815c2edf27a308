#include "tests/model/masters_model.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string_view>
#include <unordered_set>

namespace tarcil::masters_model {
namespace {

constexpr uint8_t kMasters = 2;
constexpr size_t kMaxBatches = 3, kMaxMessages = 3;
constexpr uint8_t kNobody = 0xff;

enum Kind : uint8_t { kNone, kCampaign, kWon, kKeep, kKept, kAppend, kAppended, kFold, kFolded };

struct Message {
  uint8_t kind, master, term;
  uint8_t number;  // of the batch; of kCampaign, kKeep and their answers: when it was asked
  uint8_t id;      // of the batch; of kAppended: 0 where it was refused
};

struct Master {
  uint8_t leads, term;
  uint8_t deadline;  // its own count of its lease
  uint8_t tail;      // last batch of the journal that it knows
  uint8_t pending;   // id of the batch that it is writing
  uint8_t folded;    // how far it knows the journal to be folded
  uint8_t followed;  // as a standby
};

// Every batch writes one of two records: batch n the record n % 2. Bytes only, so that states can be compared
// as such.
struct State {
  uint8_t now;
  // etcd
  uint8_t leader, term, leaseEnd;
  uint8_t tail, terms[kMaxBatches], ids[kMaxBatches];  // the journal, with what was trimmed of it
  uint8_t folded, trimmed, records[2];
  Master masters[kMasters];
  Message messages[kMaxMessages];  // sorted
  // What the outside world has seen.
  uint8_t toldTerm, acknowledged, nextId;
};

std::string_view bytesOf(const State& state) {
  return {reinterpret_cast<const char*>(&state), sizeof state};
}

struct Table {
  uint8_t records[2];
  bool operator==(const Table&) const = default;
};

// After the batches up to `tail`.
Table tableAt(const State& s, uint8_t tail) {
  Table table{};
  for (uint8_t n = 1; n <= tail; ++n) table.records[n % 2] = s.ids[n - 1];
  return table;
}

// What a master would load: the records, and what is left of the journal behind them.
Table loaded(const State& s) {
  Table table{{s.records[0], s.records[1]}};
  for (uint8_t n = std::max(s.folded, s.trimmed) + 1; n <= s.tail; ++n) table.records[n % 2] = s.ids[n - 1];
  return table;
}

class Search {
 public:
  Search(const Bugs& bugs, const Bounds& bounds) : bugs_(bugs), bounds_(bounds) {}

  Outcome run() {
    State first{};
    first.leader = kNobody;
    first.nextId = 1;
    reach(first, kNobodyBefore, "start");
    for (; at_ < states_.size() && outcome_.violation.empty(); ++at_) expand(states_[at_].state);
    outcome_.states = states_.size();
    return outcome_;
  }

 private:
  static constexpr size_t kNobodyBefore = SIZE_MAX;
  struct Reached {
    State state;
    size_t before;
    const char* step;
    uint8_t who;
  };
  // Of states by their places.
  struct Hash {
    const std::deque<Reached>& states;
    size_t operator()(size_t i) const { return std::hash<std::string_view>()(bytesOf(states[i].state)); }
  };
  struct Same {
    const std::deque<Reached>& states;
    bool operator()(size_t a, size_t b) const { return bytesOf(states[a].state) == bytesOf(states[b].state); }
  };

  void reach(State& next, size_t before, const char* step, uint8_t who = kNobody) {
    std::sort(std::begin(next.messages), std::end(next.messages), [](const Message& a, const Message& b) {
      return std::memcmp(&a, &b, sizeof a) > 0;  // empty ones last
    });
    states_.push_back({next, before, step, who});
    if (!seen_.insert(states_.size() - 1).second) states_.pop_back();
  }
  void to(State next, const char* step, uint8_t who = kNobody) { reach(next, at_, step, who); }

  void violated(const char* what, const char* step, uint8_t who) {
    if (!outcome_.violation.empty()) return;
    outcome_.violation = what;
    std::vector<std::string> steps{described(step, who)};
    for (size_t i = at_; i != kNobodyBefore; i = states_[i].before) {
      steps.push_back(described(states_[i].step, states_[i].who));
    }
    outcome_.steps.assign(steps.rbegin(), steps.rend());
  }
  static std::string described(const char* step, uint8_t who) {
    return who == kNobody ? step : std::string(step) + " (master " + static_cast<char>('A' + who) + ")";
  }

  static size_t count(const State& s, Kind kind, uint8_t master) {
    return static_cast<size_t>(
        std::count_if(std::begin(s.messages), std::end(s.messages),
                      [kind, master](const Message& m) { return m.kind == kind && m.master == master; }));
  }
  bool send(State& s, const Message& message) const {
    for (size_t i = 0; i < bounds_.messages; ++i) {
      if (s.messages[i].kind != kNone) continue;
      s.messages[i] = message;
      return true;
    }
    return false;
  }

  void expand(State s) {
    if (s.now < bounds_.end) {
      State next = s;
      ++next.now;
      to(next, "time passes");
    }
    if (s.leader != kNobody && s.now >= s.leaseEnd) {
      State next = s;
      next.leader = kNobody;
      to(next, "etcd ends the lease");
    }
    for (size_t i = 0; i < bounds_.messages && s.messages[i].kind != kNone; ++i) {
      State next = s;
      next.messages[i] = {};
      to(next, "a message is lost");
      deliver(next, s.messages[i]);
    }
    for (uint8_t m = 0; m < kMasters; ++m) act(s, m);
  }

  // --- What masters do -----------------------------------------------------------------------------------

  void act(const State& s, uint8_t m) {
    const Master& master = s.masters[m];
    if (!master.leads) {
      State next = s;
      const bool isFirst = s.term != 0 || m == 0;  // masters are alike: A is who leads first
      if (isFirst && count(s, kCampaign, m) + count(s, kWon, m) == 0 && s.term < bounds_.terms &&
          send(next, {kCampaign, m, 0, s.now, 0})) {
        to(next, "campaigns", m);
      }
      if (bugs_.staleStandby && master.followed < s.tail) {
        next = s;
        ++next.masters[m].followed;
        to(next, "follows the journal", m);
      }
      return;
    }
    State next = s;
    next.masters[m] = {};
    to(next, "stops", m);
    tell(s, m, "tells what it has");
    next = s;
    if (count(s, kKeep, m) + count(s, kKept, m) == 0 && send(next, {kKeep, m, master.term, s.now, 0})) {
      to(next, "asks for its lease", m);
    }
    if (master.pending == 0 && master.tail < bounds_.batches && s.nextId <= bounds_.batches + 1) begin(s, m);
    next = s;
    if (master.pending != 0 && count(s, kAppend, m) < 2 && send(next, append(s, m)))
      to(next, "writes again", m);
    next = s;
    if (master.folded < master.tail && count(s, kFold, m) < 2 &&
        send(next, {kFold, m, master.term, static_cast<uint8_t>(master.folded + 1), 0})) {
      to(next, "folds", m);
    }
    if (bugs_.outcomeGuessed && master.pending != 0 && count(s, kAppend, m) + count(s, kAppended, m) == 0) {
      acknowledge(s, m, "takes the batch for written");
    }
  }

  static Message append(const State& s, uint8_t m) {
    const Master& master = s.masters[m];
    return {kAppend, m, master.term, static_cast<uint8_t>(master.tail + 1), master.pending};
  }

  void begin(const State& s, uint8_t m) {
    State next = s;
    next.masters[m].pending = next.nextId++;
    if (!send(next, append(next, m))) return;
    if (bugs_.gateBeforePut) return acknowledge(next, m, "answers before etcd does");
    to(next, "writes a batch", m);
  }

  bool mayTell(const State& s, uint8_t m) const { return s.now < s.masters[m].deadline; }

  // What leaves a master: its term, and what it knows of the journal.
  void tell(State next, uint8_t m, const char* step) {
    if (!mayTell(next, m)) return;
    const Master& master = next.masters[m];
    if (master.term < next.toldTerm) return violated("told after a later leader has told something", step, m);
    if (master.tail < next.acknowledged)
      return violated("tells a state without what was acknowledged", step, m);
    next.toldTerm = master.term;
    to(next, step, m);
  }

  void acknowledge(State next, uint8_t m, const char* step) {
    Master& master = next.masters[m];
    const uint8_t number = master.tail + 1, id = master.pending;
    if (!mayTell(next, m)) {
      next.masters[m] = {};
      return to(next, "stops: its lease is over", m);
    }
    if (next.tail < number || next.ids[number - 1] != id)
      return violated("acknowledged, and not written", step, m);
    master.tail = number;
    master.pending = 0;
    next.acknowledged = std::max(next.acknowledged, number);
    tell(next, m, step);
  }

  // --- What etcd does, and what masters make of its answers ------------------------------------------------

  // `next` is without the message already.
  void deliver(State next, const Message& message) {
    const uint8_t m = message.master;
    Master& master = next.masters[m];
    switch (message.kind) {
      case kCampaign:
        if (next.leader != kNobody || next.term == bounds_.terms)
          return to(next, "etcd has a leader already", m);
        next.leader = m;
        ++next.term;
        next.leaseEnd = static_cast<uint8_t>(next.now + bounds_.lease);
        send(next, {kWon, m, next.term, message.number, 0});
        return to(next, "etcd makes it the leader", m);
      case kKeep:
        if (next.leader != m || next.term != message.term) return to(next, "etcd knows no such lease", m);
        next.leaseEnd = static_cast<uint8_t>(next.now + bounds_.lease);
        send(next, {kKept, m, message.term, message.number, 0});
        return to(next, "etcd renews the lease", m);
      case kWon:
        if (master.leads) return;
        return lead(next, message);
      case kKept:
        if (!master.leads || master.term != message.term) return;
        master.deadline = std::max(master.deadline, deadlineOf(next, message));
        return to(next, "has its lease renewed", m);
      case kAppend:
        return write(next, message);
      case kAppended:
        if (!master.leads || master.term != message.term || message.number != master.tail + 1) return;
        if (message.id == 0) {
          master = {};
          return to(next, "stops: it was refused", m);
        }
        return acknowledge(next, m, "answers");
      case kFold:
        return fold(next, message);
      case kFolded:
        if (!master.leads || master.term != message.term) return;
        master.folded = std::max(master.folded, message.number);
        return to(next, "has folded", m);
      default:
        return;
    }
  }

  uint8_t deadlineOf(const State& s, const Message& message) const {
    return static_cast<uint8_t>((bugs_.leaseFromAnswer ? s.now : message.number) + bounds_.lease);
  }

  void lead(State next, const Message& won) {
    Master& master = next.masters[won.master];
    const uint8_t tail = bugs_.staleStandby ? std::min(master.followed, next.tail) : next.tail;
    const Table table = bugs_.staleStandby ? tableAt(next, tail) : loaded(next);
    master = {1, won.term, deadlineOf(next, won), tail, 0, next.folded, 0};
    if (table != tableAt(next, tail))
      return violated("loads another state than was written", "leads", won.master);
    to(next, "leads", won.master);
  }

  bool isFenced(const State& s, const Message& message) const {
    return !bugs_.noFencing && (s.leader != message.master || s.term != message.term);
  }

  // Whoever asks again is told what became of the batch the first time.
  void write(State next, const Message& message) {
    const uint8_t m = message.master, n = message.number;
    if (n <= next.tail) {
      const bool isOurs = next.ids[n - 1] == message.id;
      send(next, {kAppended, m, message.term, n, isOurs ? message.id : uint8_t{0}});
      return to(next, "etcd has a batch of this number", m);
    }
    if (isFenced(next, message)) {
      send(next, {kAppended, m, message.term, n, 0});
      return to(next, "etcd refuses the batch", m);
    }
    if (next.leader != m || next.term != message.term) {
      return violated("a deposed leader's batch is among its successor's", "etcd writes the batch", m);
    }
    next.terms[next.tail] = message.term;
    next.ids[next.tail] = message.id;
    ++next.tail;
    send(next, {kAppended, m, message.term, n, message.id});
    to(next, "etcd writes the batch", m);
  }

  void fold(State next, const Message& message) {
    const uint8_t m = message.master, n = message.number;
    if (isFenced(next, message)) return to(next, "etcd refuses to fold", m);
    if (bugs_.foldedTwice || next.folded + 1 == n) {
      next.records[n % 2] = next.ids[n - 1];
      next.folded = n;
      next.trimmed = std::max(next.trimmed, n);
      if (loaded(next) != tableAt(next, next.tail)) {
        return violated("the records are not what was written", "etcd folds", m);
      }
    }
    send(next, {kFolded, m, message.term, n, 0});
    to(next, "etcd folds", m);
  }

  const Bugs bugs_;
  const Bounds bounds_;
  std::deque<Reached> states_;  // in the order in which they were reached
  std::unordered_set<size_t, Hash, Same> seen_{1 << 16, Hash{states_}, Same{states_}};
  size_t at_ = 0;  // the one that is expanded
  Outcome outcome_;
};

}  // namespace

Outcome search(const Bugs& bugs, const Bounds& bounds) {
  return Search(bugs, bounds).run();
}

}  // namespace tarcil::masters_model
