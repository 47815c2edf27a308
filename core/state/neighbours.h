// A newcomer and the tasks of one server, judged neighbour by neighbour: what each does to it, and it to each
// (docs/design.md, "Neighbour by neighbour"). Agents choose by it and the master checks claims with it.
#pragma once

#include <array>
#include <cstdint>

#include <boost/container/vector.hpp>

#include "core/model/slowdown.h"
#include "core/state/glance.h"
#include "core/state/server.h"

namespace tarcil {

// Residents of one server that are alike, as newcomers meet them; all is as it arrives on the platform. One
// cache line.
struct alignas(64) NeighbourGroup {
  alignas(16) Lanes presses{};  // pressure of each; then 0
  alignas(16) Lanes onsets{};   // where what it feels begins (onsetOf); then 255
  // How much more it bears of all others together, raised by kMaxPressure; 255 where it bears anything.
  alignas(16) Lanes room{};
  Slowdowns felt;  // by one of them, of each of the others there
  uint32_t count = 1;
  uint8_t excess = 0;  // the most by which all others together exceed what it tolerates
  bool isStrict = false;

  bool operator==(const NeighbourGroup&) const = default;
};
static_assert(sizeof(NeighbourGroup) == 64);

// All of one server, with what mostly spares a look at each. One cache line.
struct alignas(64) Neighbours {
  using Groups =
      boost::container::vector<NeighbourGroup, void,
                               boost::container::vector_options_t<boost::container::stored_size<uint32_t>>>;

  Neighbours() {
    onsets.fill(UINT8_MAX);
    spare.fill(UINT8_MAX);
  }

  alignas(16) Lanes presses{};  // the most of any
  alignas(16) Lanes onsets;     // the least of any
  // The most that a newcomer may press with, raised by kMaxPressure, for none to feel more of all others
  // together than it does; 255: anything.
  alignas(16) Lanes spare;
  Groups groups;
};
static_assert(sizeof(Neighbours) == 64);

// Neighbour by neighbour: whether one of them slows the newcomer down, and whether it slows one of them down.
inline bool isSlowedBy(const Newcomer& newcomer, const Neighbours& neighbours) {
  return newcomer.byNeighbours && mostBeyond(neighbours.presses, newcomer.margin, newcomer.onsets) > 0;
}
inline bool isSlowing(const Newcomer& newcomer, const Neighbours& neighbours) {
  return newcomer.byNeighbours && mostBeyond(newcomer.presses, neighbours.onsets) > 0;
}
// Whether one task of the newcomer has to be judged beside each of them; else they are nothing to each other.
inline bool matter(const Newcomer& newcomer, const Neighbours& neighbours) {
  return mostBeyond(newcomer.raised, neighbours.spare) > 0 || isSlowedBy(newcomer, neighbours) ||
         isSlowing(newcomer, neighbours);
}

// By group of the status, and last, where it presses at all, what no resident explains: late-bound tasks and
// the background, which feel nothing. O(groups^2).
Neighbours neighboursOf(const ServerStatus& status, const Share& share);

// What a newcomer and those that are there are to each other.
struct Meeting {
  double satisfaction = 1;  // S of the newcomer
  // What those there lose of their speed by it, each in S, together.
  double cost = 0;
  // On which some task there would fall below what it is to bear; -1 where none would.
  int brokenResource = -1;
  // One that is strict would be, or another one fall below the floor.
  bool isForbidden = false;
};

// With `ownTasks` tasks of the same job on the server already, which are not among the neighbours. `excess`
// is by how much the sum of all pressures exceeds what the newcomer tolerates. By ContentionModel::kSlowdowns
// S is the lower of two: 1 less two thirds of the excess, and by slowdowns; else 1 less the excess. Pure;
// O(neighbours).
Meeting meet(const Newcomer& newcomer, const Neighbours& neighbours, uint8_t excess, uint32_t ownTasks = 0);

// The glance at a server with what its neighbours lose; by ContentionModel::kSlowdowns also with what they do
// to the newcomer, and whether one is broken, in the place of what the sum of pressures says.
Glance withNeighbours(const Glance& seen, const Newcomer& newcomer, const Neighbours& neighbours,
                      uint32_t ownTasks = 0);

}  // namespace tarcil
