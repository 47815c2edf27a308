// What a master says of itself to whoever asks: whether it leads, and who does.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/time.h"
#include "schema/master.capnp.h"

namespace tarcil {

struct MasterStanding {
  std::string name{};     // of its machine, for people
  std::string address{};  // where it listens
  uint64_t pid = 0;
  bool leads = false;
  uint64_t term = 0;      // of the leader, as this master knows it; 0: of none, or there is one master only
  WallTime since{};       // it has led, or stood by
  Duration behind{};      // what a standby holds was the whole state so long ago, at most
  std::string leader{};   // address of who leads, as this master knows it; empty: nobody
  bool hasState = false;  // a standby holds the state
};

void write(const MasterStanding& standing, wire::MasterStanding::Builder to);

}  // namespace tarcil
