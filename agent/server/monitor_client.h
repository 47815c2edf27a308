// Calls to monitors: one connection per address, to whoever stands for the server that is meant, made when
// first needed, dropped when a call over it fails.
#pragma once

#include <map>
#include <string>

#include "core/model/launch.h"
#include "latebinding/messages.h"
#include "rpc/connection.h"
#include "schema/monitor.capnp.h"

namespace tarcil {

// Single-threaded.
class MonitorClient final {
 public:
  MonitorClient(Net net, std::string token) : net_(net), token_(std::move(token)) {}

  // Where a server's monitor listens.
  struct Place {
    std::string server, address;
  };

  // Fails where it is not known whether the launch arrived: it may be repeated. `ticket`: the master's for
  // it; may be empty.
  kj::Promise<wire::LaunchPort::Outcome> launch(const std::string& address, const LaunchSpec& spec,
                                                const std::string& ticket);

  struct Output {
    kj::Array<kj::byte> content;
    bool ended;
    uint64_t start;  // of the content in the whole output
  };
  // `wait`: held until there is some, or the task has ended. `isTaken`: what is before `offset` has arrived.
  kj::Promise<Output> output(const Place& place, AllocationId allocation, wire::Stream stream,
                             uint64_t offset, bool wait, bool isTaken);
  // Of a late-bound task that has ended.
  kj::Promise<Output> lateOutput(const Place& place, late::SlotLeaseId lease, wire::Stream stream,
                                 uint64_t offset);

  // Files that are kept of a task, behind `after`; one of them from an offset on.
  kj::Promise<capnp::Response<wire::LaunchPort::ResultFilesResults>> resultFiles(const Place& place,
                                                                                 AllocationId allocation,
                                                                                 const std::string& after);
  kj::Promise<capnp::Response<wire::LaunchPort::ReadResultResults>> readResult(const Place& place,
                                                                               AllocationId allocation,
                                                                               const std::string& path,
                                                                               uint64_t offset);

 private:
  struct Peer {
    uint64_t number;  // tells a new connection to an address from an earlier one
    wire::LaunchPort::Client
        port;  // calls made before the login is answered wait for it; owns the connection
  };

  struct Asked {
    uint64_t id = 0;  // allocation, or slot lease
    bool isLate = false;
    wire::Stream stream = wire::Stream::STDOUT;
    uint64_t offset = 0;
    bool wait = false;
    bool isTaken = false;
  };
  kj::Promise<Output> outputOf(const Place& place, const Asked& asked);
  // Hands `answer` on; where the connection of this number is lost, the next call makes a new one.
  template <typename Answer>
  kj::Promise<Answer> droppingLost(const std::string& address, uint64_t number, kj::Promise<Answer> answer);
  Peer& peerAt(const Place& place);
  kj::Promise<wire::LaunchPort::Client> logIn(const Place& place);
  // After a failed call: the next one makes a new connection.
  void drop(const std::string& address, uint64_t number);

  Net net_;
  const std::string token_;
  uint64_t numbers_ = 0;
  std::map<std::string, Peer> peers_;
};

}  // namespace tarcil
