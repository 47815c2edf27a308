#include "sim/policies/server_choice.h"

#include <set>
#include <utility>
#include <vector>

#include "core/state/free_index.h"

namespace tarcil::sim {
namespace {

// Keeps how many units of each server are free.
class ByUnits : public ServerChoice {
 public:
  explicit ByUnits(const World& world) : world_(world), free_(world.servers().size()) {}

  void hasFree(ServerNumber server, uint32_t units) override { set(server, units); }
  void taken(TaskNumber task, ServerNumber server) override { set(server, free_[server] - rusOf(task)); }
  void released(TaskNumber task, ServerNumber server) override { set(server, free_[server] + rusOf(task)); }

 protected:
  virtual void change(ServerNumber server, uint32_t before, uint32_t after) = 0;

  uint32_t rusOf(TaskNumber task) const { return world_.job(world_.jobOf(task)).rus; }
  uint32_t freeOf(ServerNumber server) const { return free_[server]; }
  uint32_t unitsOf(ServerNumber server) const { return world_.servers()[server].units; }

 private:
  void set(ServerNumber server, uint32_t units) {
    change(server, std::exchange(free_[server], units), units);
  }

  const World& world_;
  std::vector<uint32_t> free_;
};

class AnyServer final : public ByUnits {
 public:
  AnyServer(const World& world, Rng rng) : ByUnits(world), rng_(rng) {}

  Choice choose(TaskNumber task) override {
    const FreeIndex::Draws draws(index_, rusOf(task));
    if (draws.empty()) return {};
    return {.server = draws.next(rng_).server, .looked = 1};
  }

 private:
  void change(ServerNumber server, uint32_t, uint32_t after) override { index_.set(server, after); }

  Rng rng_;
  FreeIndex index_;
};

class LeastLoaded final : public ByUnits {
 public:
  using ByUnits::ByUnits;

  Choice choose(TaskNumber task) override {
    for (const auto& [load, server] : byLoad_) {
      if (load >= 1) break;
      if (freeOf(server) >= rusOf(task)) return {.server = server, .looked = 1};
    }
    return {};
  }

 private:
  void change(ServerNumber server, uint32_t before, uint32_t after) override {
    const double all = unitsOf(server);
    byLoad_.erase({1 - before / all, server});
    byLoad_.emplace(1 - after / all, server);
  }

  std::set<std::pair<double, ServerNumber>> byLoad_;  // part of the units that is held
};

}  // namespace

std::unique_ptr<ServerChoice> anyServer(const World& world, Rng rng) {
  return std::make_unique<AnyServer>(world, rng);
}

std::unique_ptr<ServerChoice> leastLoadedServer(const World& world) {
  return std::make_unique<LeastLoaded>(world);
}

}  // namespace tarcil::sim
