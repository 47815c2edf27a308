#include "latebinding/reservation_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>
#include <tuple>

namespace tarcil::late::reservation_table_test {

using Key = std::tuple<AgentNumber, JobNumber, ProbeIndex>;

Reservation reservation(const Key& key) {
  Reservation made;
  std::tie(made.agent, made.job, made.probe) = key;
  made.left = 1;
  return made;
}

// Against a list in plain sight: the same are found, in the same order, whatever was added and erased before.
RC_GTEST_PROP(ReservationTable, HoldsWhatAListWould, ()) {
  ReservationTable table;
  Chain chain;
  std::list<Key> model;
  const int steps = *rc::gen::inRange(0, 200);
  for (int i = 0; i < steps; ++i) {
    // Few values, so that they meet.
    const Key key{*rc::gen::inRange(0u, 3u), *rc::gen::inRange<JobNumber>(0, 12), *rc::gen::inRange(0u, 3u)};
    const auto row = table.find(std::get<0>(key), std::get<1>(key), std::get<2>(key));
    const bool known = std::find(model.begin(), model.end(), key) != model.end();
    RC_ASSERT(row.has_value() == known);
    if (!known) {
      table.append(reservation(key), chain);
      model.push_back(key);
    } else if (*rc::gen::inRange(0, 3) > 0) {
      table.erase(*row, chain);
      model.remove(key);
    }
  }
  RC_ASSERT(table.size() == model.size());
  Row row = chain.head;
  for (const Key& key : model) {
    RC_ASSERT(row != kNoRow);
    const Reservation& held = table.at(row);
    RC_ASSERT(Key(held.agent, held.job, held.probe) == key);
    row = held.next;
  }
  RC_ASSERT(row == kNoRow);
}

}  // namespace tarcil::late::reservation_table_test
