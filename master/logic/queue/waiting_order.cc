#include "master/logic/queue/waiting_order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace tarcil::master {
namespace {

constexpr uint8_t kHighest = 100;

}  // namespace

const WaitingOrder::Age* WaitingOrder::ClassMembers::first() const {
  const Age* first = nullptr;
  for (const Ages& ages : jobs) {
    if (!ages.empty() && (first == nullptr || *ages.begin() < *first)) first = &*ages.begin();
  }
  return first;
}

std::optional<Mode> WaitingOrder::ClassMembers::modeOf(const Age& age) const {
  for (size_t mode = 0; mode < kModes; ++mode) {
    if (jobs[mode].contains(age)) return static_cast<Mode>(mode);
  }
  return std::nullopt;
}

UserNumber WaitingOrder::numberOf(const std::string& user) {
  const auto [found, isNew] = numbers_.try_emplace(user, static_cast<UserNumber>(users_.size()));
  if (isNew) users_.emplace_back();
  return found->second;
}

void WaitingOrder::setShares(UserNumber user, uint32_t shares) {
  users_[user].shares = shares;
  reorderLines(user);
}

void WaitingOrder::addUnits(UserNumber user, int64_t units) {
  users_[user].units += units;
  if (Account* account = users_[user].account) {
    account->units += units;
    reorderLines(*account);
  } else {
    reorderLines(user);
  }
}

void WaitingOrder::setAccount(UserNumber number, const std::string& name) {
  User& user = users_[number];
  Account* const before = user.account;
  Account* const after = name.empty() ? nullptr : &accounts_[name];
  if (before == after) return;
  user.account = after;
  if (before != nullptr) {
    before->units -= user.units;
    before->users.erase(number);
    reorderLines(*before);
  }
  if (after != nullptr) {
    after->units += user.units;
    after->users.insert(number);
    reorderLines(*after);
  }
  reorderLines(number);
}

void WaitingOrder::setSharesOfAccount(const std::string& name, uint32_t shares) {
  Account& account = accounts_[name];
  account.shares = shares;
  reorderLines(account);
}

void WaitingOrder::reorderLines(const Account& account) {
  for (const UserNumber user : account.users) reorderLines(user);
}

void WaitingOrder::reorderLines(UserNumber user) {
  for (auto line = lines_.lower_bound({user, 0}); line != lines_.end() && line->first.first == user; ++line) {
    reorder(line);
  }
}

int64_t WaitingOrder::step(WallTime time) const {
  return ageing_ == Duration::zero() ? 0 : time.time_since_epoch() / ageing_;
}

WaitingOrder::Key WaitingOrder::keyOf(const Lines::value_type& line) const {
  const auto& [user, priority] = line.first;
  const WallTime since = std::max(line.second.byAge.begin()->first.submitted, line.second.granted);
  const double units = static_cast<double>(users_[user].units) / users_[user].shares;
  const Account* account = users_[user].account;
  return {
      .rank = step(since) - priority,
      .unitsOfAccount = account == nullptr ? units : static_cast<double>(account->units) / account->shares,
      .units = units,
      .since = since,
      .urgency = static_cast<uint8_t>(255 - priority),
      .user = user};
}

void WaitingOrder::reorder(Lines::iterator line) {
  const Key key = keyOf(*line);
  if (key == line->second.key) return;
  order_.erase(line->second.key);
  line->second.key = key;
  order_.emplace(key, line);
}

void WaitingOrder::refresh(Lines::iterator line, ClassMap::iterator equivalenceClass) {
  Line& jobs = line->second;
  const Age* oldest = equivalenceClass->second.first();
  if (oldest == nullptr) {
    jobs.byAge.erase(equivalenceClass->second.oldest);
    jobs.classes.erase(equivalenceClass);
  } else if (*oldest != equivalenceClass->second.oldest) {
    jobs.byAge.erase(equivalenceClass->second.oldest);
    equivalenceClass->second.oldest = *oldest;
    jobs.byAge.emplace(*oldest, equivalenceClass);
  }
  if (!jobs.classes.empty()) return reorder(line);
  order_.erase(jobs.key);
  lines_.erase(line);
}

const WaitingOrder::ClassMembers* WaitingOrder::find(const QueueKey& key) const {
  const auto line = lines_.find(lineOf(key));
  if (line == lines_.end()) return nullptr;
  const auto equivalenceClass = line->second.classes.find(key.equivalenceClass);
  return equivalenceClass == line->second.classes.end() ? nullptr : &equivalenceClass->second;
}

std::optional<Mode> WaitingOrder::modeOf(const QueueKey& key) const {
  const ClassMembers* jobs = find(key);
  return jobs == nullptr ? std::nullopt : jobs->modeOf(ageOf(key));
}

size_t WaitingOrder::size() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), size_t{0});
}

void WaitingOrder::put(const QueueKey& key, Mode mode) {
  const auto [line, isNew] = lines_.try_emplace(lineOf(key));
  if (isNew) line->second.granted = grantedTo(line->first);
  const auto equivalenceClass = line->second.classes.try_emplace(key.equivalenceClass).first;
  const Age age = ageOf(key);
  auto& jobs = equivalenceClass->second.jobs;
  if (const auto before = equivalenceClass->second.modeOf(age)) {
    --sizes_[static_cast<size_t>(*before)];
    jobs[static_cast<size_t>(mode)].insert(jobs[static_cast<size_t>(*before)].extract(age));
  } else {
    jobs[static_cast<size_t>(mode)].insert(age);
    refresh(line, equivalenceClass);
  }
  ++sizes_[static_cast<size_t>(mode)];
}

void WaitingOrder::erase(const QueueKey& key) {
  const auto line = lines_.find(lineOf(key));
  if (line == lines_.end()) return;
  const auto equivalenceClass = line->second.classes.find(key.equivalenceClass);
  if (equivalenceClass == line->second.classes.end()) return;
  const auto mode = equivalenceClass->second.modeOf(ageOf(key));
  if (!mode) return;
  equivalenceClass->second.jobs[static_cast<size_t>(*mode)].erase(ageOf(key));
  --sizes_[static_cast<size_t>(*mode)];
  refresh(line, equivalenceClass);
}

WallTime WaitingOrder::grantedTo(const LineId& line) const {
  const auto found = granted_.find(line);
  return found == granted_.end() ? kNever : found->second;
}

void WaitingOrder::noteGrant(const QueueKey& key, WallTime now) {
  granted_[lineOf(key)] = now;
  const auto line = lines_.find(lineOf(key));
  if (line == lines_.end()) return;
  line->second.granted = now;
  reorder(line);
}

void WaitingOrder::changeAll(Mode from, Mode to) {
  size_t& before = sizes_[static_cast<size_t>(from)];
  if (before == 0) return;
  for (auto& [key, line] : lines_) {
    for (auto& [equivalenceClass, jobs] : line.classes) {
      Ages& source = jobs.jobs[static_cast<size_t>(from)];
      Ages& target = jobs.jobs[static_cast<size_t>(to)];
      if (target.size() < source.size()) target.swap(source);
      target.merge(source);
    }
  }
  sizes_[static_cast<size_t>(to)] += std::exchange(before, 0);
}

int64_t WaitingOrder::rank(const QueueKey& key) const {
  return lines_.find(lineOf(key))->second.key.rank;
}

bool WaitingOrder::isBefore(const QueueKey& one, const QueueKey& other) const {
  const Key &first = lines_.find(lineOf(one))->second.key, &second = lines_.find(lineOf(other))->second.key;
  return std::pair(first, ageOf(one)) < std::pair(second, ageOf(other));
}

uint8_t WaitingOrder::lifted(int64_t rank, WallTime now) const {
  return static_cast<uint8_t>(std::clamp<int64_t>(step(now) - rank, 0, kHighest));
}

QueueKey WaitingOrder::queueKeyOf(const Lines::value_type& line, EquivalenceClass equivalenceClass,
                                  const Age& age) {
  return {.user = line.first.first,
          .priority = line.first.second,
          .equivalenceClass = equivalenceClass,
          .submitted = age.submitted,
          .job = age.job};
}

// Jobs of one line and class by age, whatever set they are in.
class WaitingOrder::ClassCursor {
 public:
  ClassCursor(ClassMap::const_iterator equivalenceClass, const Modes& modes) : class_(equivalenceClass) {
    for (size_t mode = 0; mode < kModes; ++mode) {
      const Ages& ages = equivalenceClass->second.jobs[mode];
      next_[mode] = modes[mode] ? ages.begin() : ages.end();
    }
    find();
  }

  // Null where there is none.
  const Age* peek() const { return first_ == kModes ? nullptr : &*next_[first_]; }
  // Requires: there is one.
  void pop() {
    ++next_[first_];
    find();
  }
  EquivalenceClass equivalenceClass() const { return class_->first; }

 private:
  void find() {
    first_ = kModes;
    for (size_t mode = 0; mode < kModes; ++mode) {
      if (next_[mode] == class_->second.jobs[mode].end()) continue;
      if (first_ == kModes || *next_[mode] < *next_[first_]) first_ = mode;
    }
  }

  ClassMap::const_iterator class_;
  std::array<Ages::const_iterator, kModes> next_;
  size_t first_ = kModes;  // which of them is the oldest
};

// Jobs of one line by age. A class is looked at when its oldest job is reached.
class WaitingOrder::LineCursor {
 public:
  LineCursor(Lines::const_iterator line, const Modes& modes, const SkippedClasses& without)
      : line_(line), modes_(&modes), without_(&without), next_(line->second.byAge.begin()) {}

  std::optional<QueueKey> take() {
    const auto& byAge = line_->second.byAge;
    for (; next_ != byAge.end() && (open_.empty() || next_->first < *open_.top().peek()); ++next_) {
      if (isLeftOut(next_->second->first)) continue;
      ClassCursor equivalenceClass(next_->second, *modes_);
      if (equivalenceClass.peek() != nullptr) open_.push(std::move(equivalenceClass));
    }
    if (open_.empty()) return std::nullopt;
    ClassCursor equivalenceClass = open_.top();
    open_.pop();
    const QueueKey key = queueKeyOf(*line_, equivalenceClass.equivalenceClass(), *equivalenceClass.peek());
    equivalenceClass.pop();
    if (equivalenceClass.peek() != nullptr) open_.push(std::move(equivalenceClass));
    return key;
  }

  Lines::const_iterator line() const { return line_; }

 private:
  bool isLeftOut(EquivalenceClass equivalenceClass) const {
    const auto found = without_->find(equivalenceClass);
    return found != without_->end() && line_->first.second <= found->second;
  }

  struct Later {
    bool operator()(const ClassCursor& a, const ClassCursor& b) const { return *b.peek() < *a.peek(); }
  };

  Lines::const_iterator line_;
  const Modes* modes_;
  const SkippedClasses* without_;
  std::map<Age, ClassMap::const_iterator>::const_iterator next_;
  std::priority_queue<ClassCursor, std::vector<ClassCursor>, Later> open_;
};

void WaitingOrder::walk(std::initializer_list<Mode> modes, const SkippedClasses& without,
                        const Visit& visit) const {
  Modes wanted{};
  for (Mode mode : modes) wanted[static_cast<size_t>(mode)] = true;
  walk(wanted, without, visit);
}

void WaitingOrder::walk(const Visit& visit) const {
  walk({true, true, true, true}, {}, visit);
}

void WaitingOrder::walk(const Modes& modes, const SkippedClasses& without, const Visit& visit) const {
  struct Head {
    Key key;
    LineCursor cursor;
    bool operator<(const Head& other) const { return other.key < key; }  // the first in order on top
  };
  std::vector<Head> heads;  // a heap
  const auto push = [&heads](Head head) {
    heads.push_back(std::move(head));
    std::push_heap(heads.begin(), heads.end());
  };
  // Held by the jobs visited, for each share.
  std::unordered_map<UserNumber, double> more;
  std::unordered_map<const Account*, double> moreOfAccount;
  auto next = order_.begin();
  while (true) {
    while (next != order_.end() && (heads.empty() || next->first < heads.front().key)) {
      push({next->first, LineCursor(next->second, modes, without)});
      ++next;
    }
    if (heads.empty()) return;
    std::pop_heap(heads.begin(), heads.end());
    Head head = std::move(heads.back());
    heads.pop_back();
    const UserNumber user = head.key.user;
    const Account* account = users_[user].account;
    Key now = head.cursor.line()->second.key;
    now.units += more[user];
    now.unitsOfAccount += account == nullptr ? more[user] : moreOfAccount[account];
    if (now > head.key) {  // another line of theirs came first
      head.key = now;
      push(std::move(head));
      continue;
    }
    const auto key = head.cursor.take();
    if (!key) continue;
    const auto units = visit(*key);
    if (!units) return;
    more[user] += static_cast<double>(*units) / users_[user].shares;
    if (account != nullptr) moreOfAccount[account] += static_cast<double>(*units) / account->shares;
    push(std::move(head));
  }
}

std::vector<QueueKey> WaitingOrder::behind(const QueueKey& key, Mode mode, size_t atMost) const {
  std::vector<QueueKey> index;
  for (const bool fromPlace : {true, false}) {
    auto line = fromPlace ? lines_.lower_bound(lineOf(key)) : lines_.begin();
    for (; line != lines_.end(); ++line) {
      const ClassMap& classes = line->second.classes;
      const bool sameLine = fromPlace && line->first == lineOf(key);
      for (auto equivalenceClass = sameLine ? classes.lower_bound(key.equivalenceClass) : classes.begin();
           equivalenceClass != classes.end(); ++equivalenceClass) {
        const Ages& ages = equivalenceClass->second.jobs[static_cast<size_t>(mode)];
        const bool sameClass = sameLine && equivalenceClass->first == key.equivalenceClass;
        auto age = sameClass ? ages.upper_bound(ageOf(key)) : ages.begin();
        for (; age != ages.end() && index.size() < atMost; ++age) {
          index.push_back(queueKeyOf(*line, equivalenceClass->first, *age));
        }
        if (!index.empty()) return index;
      }
    }
  }
  return index;
}

}  // namespace tarcil::master
