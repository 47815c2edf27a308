// How near the cluster is to the load from which on its queue grows without end.
#pragma once

#include <cstdint>

namespace tarcil {

// 1 - rho, from what arrivals find. What arrives sees the cluster as it is on average (PASTA; Wolff, 1982),
// so the mean of the units in use is the load, and the mean of those in use while jobs wait is the capacity:
// what a cluster carries as its slots are judged, less than all of its units where some stay free for the
// sake of neighbours. A queue of W that ends by itself holds up W / (1 - rho) in all, those who come
// meanwhile with it.
class Utilisation {
 public:
  // A job has come: so many units are in use, and others wait.
  void arrival(uint64_t unitsInUse, bool othersWait);

  // In (0, 1]: 1 where nobody has waited yet, and no closer to 0 than so many arrivals can tell.
  double spare() const;

 private:
  // After so many arrivals, those before count half.
  static constexpr uint32_t kRemembered = 1'024;

  struct Sum {
    double units = 0, arrivals = 0;
  };
  Sum all_, whileWaiting_;
};

}  // namespace tarcil
