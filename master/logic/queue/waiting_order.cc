#include "master/logic/queue/waiting_order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace tarcil::master {
namespace {

constexpr uint8_t kHighest = 100;

}  // namespace

const WaitingOrder::Age* WaitingOrder::OfKind::first() const {
  const Age* first = nullptr;
  for (const Ages& ages : jobs) {
    if (!ages.empty() && (first == nullptr || *ages.begin() < *first)) first = &*ages.begin();
  }
  return first;
}

std::optional<Mode> WaitingOrder::OfKind::modeOf(const Age& age) const {
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

void WaitingOrder::addHeld(UserNumber user, int64_t units) {
  users_[user].held += units;
  reorderLines(user);
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
  return {.rank = step(since) - priority,
          .held = static_cast<double>(users_[user].held) / users_[user].shares,
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

void WaitingOrder::refresh(Lines::iterator line, KindMap::iterator kind) {
  Line& jobs = line->second;
  const Age* oldest = kind->second.first();
  if (oldest == nullptr) {
    jobs.byAge.erase(kind->second.oldest);
    jobs.kinds.erase(kind);
  } else if (*oldest != kind->second.oldest) {
    jobs.byAge.erase(kind->second.oldest);
    kind->second.oldest = *oldest;
    jobs.byAge.emplace(*oldest, kind);
  }
  if (!jobs.kinds.empty()) return reorder(line);
  order_.erase(jobs.key);
  lines_.erase(line);
}

const WaitingOrder::OfKind* WaitingOrder::find(const Place& place) const {
  const auto line = lines_.find(lineOf(place));
  if (line == lines_.end()) return nullptr;
  const auto kind = line->second.kinds.find(place.kind);
  return kind == line->second.kinds.end() ? nullptr : &kind->second;
}

std::optional<Mode> WaitingOrder::modeOf(const Place& place) const {
  const OfKind* jobs = find(place);
  return jobs == nullptr ? std::nullopt : jobs->modeOf(ageOf(place));
}

size_t WaitingOrder::size() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), size_t{0});
}

void WaitingOrder::put(const Place& place, Mode mode) {
  const auto [line, isNew] = lines_.try_emplace(lineOf(place));
  if (isNew) line->second.granted = grantedTo(line->first);
  const auto kind = line->second.kinds.try_emplace(place.kind).first;
  const Age age = ageOf(place);
  auto& jobs = kind->second.jobs;
  if (const auto before = kind->second.modeOf(age)) {
    --sizes_[static_cast<size_t>(*before)];
    jobs[static_cast<size_t>(mode)].insert(jobs[static_cast<size_t>(*before)].extract(age));
  } else {
    jobs[static_cast<size_t>(mode)].insert(age);
    refresh(line, kind);
  }
  ++sizes_[static_cast<size_t>(mode)];
}

void WaitingOrder::erase(const Place& place) {
  const auto line = lines_.find(lineOf(place));
  if (line == lines_.end()) return;
  const auto kind = line->second.kinds.find(place.kind);
  if (kind == line->second.kinds.end()) return;
  const auto mode = kind->second.modeOf(ageOf(place));
  if (!mode) return;
  kind->second.jobs[static_cast<size_t>(*mode)].erase(ageOf(place));
  --sizes_[static_cast<size_t>(*mode)];
  refresh(line, kind);
}

WallTime WaitingOrder::grantedTo(const LineId& line) const {
  const auto found = granted_.find(line);
  return found == granted_.end() ? kNever : found->second;
}

void WaitingOrder::noteGrant(const Place& place, WallTime now) {
  granted_[lineOf(place)] = now;
  const auto line = lines_.find(lineOf(place));
  if (line == lines_.end()) return;
  line->second.granted = now;
  reorder(line);
}

void WaitingOrder::changeAll(Mode from, Mode to) {
  size_t& before = sizes_[static_cast<size_t>(from)];
  if (before == 0) return;
  for (auto& [key, line] : lines_) {
    for (auto& [kind, jobs] : line.kinds) {
      Ages& source = jobs.jobs[static_cast<size_t>(from)];
      Ages& target = jobs.jobs[static_cast<size_t>(to)];
      if (target.size() < source.size()) target.swap(source);
      target.merge(source);
    }
  }
  sizes_[static_cast<size_t>(to)] += std::exchange(before, 0);
}

int64_t WaitingOrder::rank(const Place& place) const {
  return lines_.find(lineOf(place))->second.key.rank;
}

bool WaitingOrder::isBefore(const Place& one, const Place& other) const {
  const Key &first = lines_.find(lineOf(one))->second.key, &second = lines_.find(lineOf(other))->second.key;
  return std::pair(first, ageOf(one)) < std::pair(second, ageOf(other));
}

uint8_t WaitingOrder::lifted(int64_t rank, WallTime now) const {
  return static_cast<uint8_t>(std::clamp<int64_t>(step(now) - rank, 0, kHighest));
}

Place WaitingOrder::placeOf(const Lines::value_type& line, Kind kind, const Age& age) {
  return {.user = line.first.first,
          .priority = line.first.second,
          .kind = kind,
          .submitted = age.submitted,
          .job = age.job};
}

// Jobs of one line and kind by age, whatever set they are in.
class WaitingOrder::KindCursor {
 public:
  KindCursor(KindMap::const_iterator kind, const Modes& modes) : kind_(kind) {
    for (size_t mode = 0; mode < kModes; ++mode) {
      const Ages& ages = kind->second.jobs[mode];
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
  Kind kind() const { return kind_->first; }

 private:
  void find() {
    first_ = kModes;
    for (size_t mode = 0; mode < kModes; ++mode) {
      if (next_[mode] == kind_->second.jobs[mode].end()) continue;
      if (first_ == kModes || *next_[mode] < *next_[first_]) first_ = mode;
    }
  }

  KindMap::const_iterator kind_;
  std::array<Ages::const_iterator, kModes> next_;
  size_t first_ = kModes;  // which of them is the oldest
};

// Jobs of one line by age. Kinds are looked at when the oldest of them is reached.
class WaitingOrder::LineCursor {
 public:
  LineCursor(Lines::const_iterator line, const Modes& modes, const Kinds& without)
      : line_(line), modes_(&modes), without_(&without), next_(line->second.byAge.begin()) {}

  std::optional<Place> take() {
    const auto& byAge = line_->second.byAge;
    for (; next_ != byAge.end() && (open_.empty() || next_->first < *open_.top().peek()); ++next_) {
      if (isLeftOut(next_->second->first)) continue;
      KindCursor kind(next_->second, *modes_);
      if (kind.peek() != nullptr) open_.push(std::move(kind));
    }
    if (open_.empty()) return std::nullopt;
    KindCursor kind = open_.top();
    open_.pop();
    const Place place = placeOf(*line_, kind.kind(), *kind.peek());
    kind.pop();
    if (kind.peek() != nullptr) open_.push(std::move(kind));
    return place;
  }

  Lines::const_iterator line() const { return line_; }

 private:
  bool isLeftOut(Kind kind) const {
    const auto found = without_->find(kind);
    return found != without_->end() && line_->first.second <= found->second;
  }

  struct Later {
    bool operator()(const KindCursor& a, const KindCursor& b) const { return *b.peek() < *a.peek(); }
  };

  Lines::const_iterator line_;
  const Modes* modes_;
  const Kinds* without_;
  std::map<Age, KindMap::const_iterator>::const_iterator next_;
  std::priority_queue<KindCursor, std::vector<KindCursor>, Later> open_;
};

void WaitingOrder::walk(std::initializer_list<Mode> modes, const Kinds& without, const Visit& visit) const {
  Modes wanted{};
  for (Mode mode : modes) wanted[static_cast<size_t>(mode)] = true;
  walk(wanted, without, visit);
}

void WaitingOrder::walk(const Visit& visit) const {
  walk({true, true, true, true}, {}, visit);
}

void WaitingOrder::walk(const Modes& modes, const Kinds& without, const Visit& visit) const {
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
  std::unordered_map<UserNumber, double> more;  // held by the jobs visited, for each share
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
    const double held = head.cursor.line()->second.key.held + more[user];
    if (held > head.key.held) {  // another line of his came first
      head.key.held = held;
      push(std::move(head));
      continue;
    }
    const auto place = head.cursor.take();
    if (!place) continue;
    const auto units = visit(*place);
    if (!units) return;
    more[user] += static_cast<double>(*units) / users_[user].shares;
    push(std::move(head));
  }
}

std::vector<Place> WaitingOrder::behind(const Place& place, Mode mode, size_t atMost) const {
  std::vector<Place> places;
  for (const bool fromPlace : {true, false}) {
    auto line = fromPlace ? lines_.lower_bound(lineOf(place)) : lines_.begin();
    for (; line != lines_.end(); ++line) {
      const KindMap& kinds = line->second.kinds;
      const bool sameLine = fromPlace && line->first == lineOf(place);
      for (auto kind = sameLine ? kinds.lower_bound(place.kind) : kinds.begin(); kind != kinds.end();
           ++kind) {
        const Ages& ages = kind->second.jobs[static_cast<size_t>(mode)];
        const bool sameKind = sameLine && kind->first == place.kind;
        auto age = sameKind ? ages.upper_bound(ageOf(place)) : ages.begin();
        for (; age != ages.end() && places.size() < atMost; ++age) {
          places.push_back(placeOf(*line, kind->first, *age));
        }
        if (!places.empty()) return places;
      }
    }
  }
  return places;
}

}  // namespace tarcil::master
