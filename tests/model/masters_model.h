// The protocol of several masters on etcd (docs/masters.md, tests/model/masters.tla) as a machine with few
// states, and an exhaustive search of them. What is checked is the protocol, not the code that follows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tarcil::masters_model {

// What may be left out of the protocol; the search has to find what goes wrong then.
struct Bugs {
  bool noFencing = false;        // transactions do not compare the leader's key
  bool gateBeforePut = false;    // a batch is acknowledged when it is sent
  bool foldedTwice = false;      // folding does not compare how far the journal has been folded
  bool leaseFromAnswer = false;  // the leader counts its lease from etcd's answer
  bool staleStandby = false;     // a standby leads with what it has followed so far
  bool outcomeGuessed = false;   // a batch that was not answered counts as written
};

// How far the search goes.
struct Bounds {
  uint8_t end = 3;       // ticks of the clock
  uint8_t lease = 2;     // in ticks
  uint8_t terms = 2;     // elections
  uint8_t batches = 2;   // in the journal
  uint8_t messages = 2;  // on their way at once
};

struct Outcome {
  std::string violation;           // empty: none was found
  std::vector<std::string> steps;  // that lead to it
  size_t states = 0;
};

// Breadth first, so that the steps are as few as can be.
Outcome search(const Bugs& bugs, const Bounds& bounds);

}  // namespace tarcil::masters_model
