#include "audit/verifier.h"

#include <algorithm>
#include <charconv>

namespace tarcil::audit {
namespace {

// Of entries from one number to another.
std::string named(uint64_t from, uint64_t to) {
  if (from == to) return "entry " + std::to_string(from) + " is missing";
  return "entries " + std::to_string(from) + " to " + std::to_string(to) + " are missing";
}

}  // namespace

Link Verifier::last() const {
  return hashes_.empty() ? Link{} : Link{first_ + hashes_.size() - 1, hashes_.back()};
}

bool Verifier::isKnown(uint64_t sequence) const {
  return sequence >= first_ && sequence < first_ + hashes_.size();
}

bool Verifier::wrong(std::string what) {
  if (!problem_) problem_ = {file_, line_, std::move(what), false};
  return false;
}

bool Verifier::missing(uint64_t from, uint64_t to, std::string_view where) {
  if (!problem_) problem_ = {file_, line_, named(from, to).append(where), true};
  return false;
}

void Verifier::beginFile(std::string name) {
  file_ = std::move(name);
  if (firstFile_.empty()) firstFile_ = file_;
  line_ = 0;
  before_ = {};
}

bool Verifier::take(std::string_view line) {
  ++line_;
  const auto place = placeOf(line);
  if (!place) return wrong("was changed: it is no line of a log, or its hash is not that of its text");
  const bool isFirst = line_ == 1;
  if (!(isFirst ? begin(*place) : goOn(*place))) return false;
  before_ = place->self;
  noteRotation(line);
  return true;
}

// Of a file.
bool Verifier::begin(const Place& place) {
  const uint64_t sequence = place.self.sequence;
  if (sequence == 1 && place.previous != Sha256{}) return wrong("the first entry names one before it");
  if (hashes_.empty()) {
    first_ = sequence;
    hashes_.push_back(place.self.hash);
    return true;
  }
  const uint64_t next = last().sequence + 1;
  if (sequence > next) return missing(next, sequence - 1, " before it");
  if (sequence == next) {
    if (place.previous != last().hash) return wrong("does not follow the line before, of another file");
    hashes_.push_back(place.self.hash);
    return true;
  }
  if (isKnown(sequence) && hashOf(sequence) == place.self.hash) return true;  // as another master has it, too
  if (sequence == 1) {
    if (!hasFront()) return false;
    notes_.push_back(file_ + ": a new log begins: the master's store was made new");
    hashes_.clear();
    first_ = 1;
    rotated_ = 0;
    firstFile_ = file_;
  } else if (isKnown(sequence - 1) && hashOf(sequence - 1) == place.previous) {
    notes_.push_back(file_ + ": the log goes on from entry " + std::to_string(sequence - 1) +
                     " again: the master's store is a backup of then");
    hashes_.resize(sequence - first_);
  } else {
    return wrong("is none of the entries before it, and follows none of them");
  }
  hashes_.push_back(place.self.hash);
  return true;
}

// Behind another line of the file.
bool Verifier::goOn(const Place& place) {
  const uint64_t sequence = place.self.sequence, next = before_.sequence + 1;
  if (sequence > next) return missing(next, sequence - 1, " before it");
  if (sequence < next) return wrong("entry " + std::to_string(sequence) + " stands behind a later one");
  if (place.previous != before_.hash) return wrong("does not follow the line before");
  if (!isKnown(sequence)) {
    hashes_.push_back(place.self.hash);
    return true;
  }
  return hashOf(sequence) == place.self.hash || wrong("is another entry under a number that is taken");
}

void Verifier::noteRotation(std::string_view line) {
  if (line.find(kRotated) == std::string_view::npos) return;
  const auto fields = fieldsOf(line);
  if (!fields || fields->entry.action != kRotated) return;
  const std::string& through = fields->entry.object;
  uint64_t number = 0;
  std::from_chars(through.data(), through.data() + through.size(), number);
  rotated_ = std::max(rotated_, number);
}

bool Verifier::hasFront() {
  if (first_ <= rotated_ + 1) return true;
  file_ = firstFile_;
  line_ = 1;
  return missing(rotated_ + 1, first_ - 1, " before it, and no entry says that rotation erased them");
}

void Verifier::finish(const std::optional<Link>& head) {
  if (problem_ || !hasFront() || !head) return;
  const Link end = last();
  if (head->sequence > end.sequence) {
    wrong(named(end.sequence + 1, head->sequence) + " behind it");
  } else if (head->sequence > 0 && !(isKnown(head->sequence) && hashOf(head->sequence) == head->hash)) {
    wrong("entry " + std::to_string(head->sequence) + " is not the one that was written");
  }
}

}  // namespace tarcil::audit
