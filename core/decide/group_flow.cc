#include "core/decide/group_flow.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <map>
#include <utility>

namespace tarcil {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;

struct Pipe {
  int64_t capacity = 0;
  int64_t residual = 0;
  Traits::edge_descriptor reverse{};
};

// A network in which tasks flow from a source to a sink.
class Network {
 public:
  using Node = Traits::vertex_descriptor;
  using Edge = Traits::edge_descriptor;

  Node source() const { return source_; }
  Node sink() const { return sink_; }
  Node add() { return boost::add_vertex(graph_); }

  Edge connect(Node from, Node to, uint32_t capacity) {
    const Edge there = boost::add_edge(from, to, Pipe{.capacity = capacity}, graph_).first;
    const Edge back = boost::add_edge(to, from, Pipe{.reverse = there}, graph_).first;
    graph_[there].reverse = back;
    return there;
  }

  void maximize() {
    boost::push_relabel_max_flow(graph_, source_, sink_, get(&Pipe::capacity, graph_),
                                 get(&Pipe::residual, graph_), get(&Pipe::reverse, graph_),
                                 get(boost::vertex_index, graph_));
  }

  uint32_t through(Edge edge) const {
    return static_cast<uint32_t>(graph_[edge].capacity - graph_[edge].residual);
  }

 private:
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Pipe> graph_;
  Node source_ = add(), sink_ = add();
};

}  // namespace

void GroupFlow::addGroup(uint32_t tasks) {
  groups_.push_back(tasks);
  room_ = placed_;
  reached_ = 0;
}

bool GroupFlow::addServer(ServerId server, uint32_t slots) {
  slots = std::min(slots, tasks_);
  const uint32_t more = std::min(slots, room_.room(server));
  if (more == 0) return true;
  if (pairs_.size() == kMaxPairs) {
    isCut_ = true;
    return false;
  }
  pairs_.push_back({static_cast<uint32_t>(groups_.size() - 1), server, slots});
  room_.add(server, more);
  reached_ += more;
  return reached_ < tasks_;
}

// The first slots of a server are a node, and flow on through larger numbers of them: what groups take that
// may have few counts for those that may have more.
std::vector<GroupFlow::Share> GroupFlow::largest() const {
  Network network;
  std::vector<Network::Node> groups;
  for (uint32_t tasks : groups_) {
    groups.push_back(network.add());
    network.connect(network.source(), groups.back(), tasks);
  }
  std::map<std::pair<ServerId, uint32_t>, Network::Node> firstSlots;
  std::vector<Network::Edge> taken;
  for (const Pair& pair : pairs_) {
    const auto [entry, isNew] = firstSlots.try_emplace({pair.server, pair.slots});
    if (isNew) entry->second = network.add();
    taken.push_back(network.connect(groups[pair.group], entry->second, pair.slots));
  }
  std::map<Domains::Key, Network::Node> domains;
  const auto afterServer = [&](ServerId server) {
    if (!placed_.isLimited()) return network.sink();
    const auto [entry, isNew] = domains.try_emplace(placed_.domainOf(server));
    if (isNew) {
      entry->second = network.add();
      network.connect(entry->second, network.sink(), placed_.room(server));
    }
    return entry->second;
  };
  for (auto entry = firstSlots.begin(); entry != firstSlots.end();) {
    const auto [server, slots] = entry->first;
    const Network::Node node = entry->second;
    const bool isLast = ++entry == firstSlots.end() || entry->first.first != server;
    network.connect(node, isLast ? afterServer(server) : entry->second, slots);
  }
  network.maximize();
  std::vector<Share> shares;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const uint32_t tasks = network.through(taken[i]);
    if (tasks > 0) shares.push_back({pairs_[i].group, pairs_[i].server, tasks});
  }
  return shares;
}

}  // namespace tarcil
