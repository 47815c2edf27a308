#include "core/decide/price.h"

#include <algorithm>
#include <functional>

namespace tarcil {

void Price::offered(double worth) {
  const double offer = std::clamp(worth, 0.0, 1.0);
  auto* end = offers_.begin() + count_;
  if (count_ == kRemembered) {
    auto* const oldest = std::lower_bound(offers_.begin(), end, inOrder_[next_], std::greater());
    end = std::move(oldest + 1, end, oldest);
  } else {
    ++count_;
  }
  auto* const place = std::lower_bound(offers_.begin(), end, offer, std::greater());
  std::move_backward(place, end, end + 1);
  *place = offer;
  inOrder_[next_] = offer;
  next_ = (next_ + 1) % kRemembered;
}

// The mean on the left is at least (sum of the k best - k r) / count for every k, and equal to it for the k
// that are above r: so r is the highest root of all these lines.
double Price::at(double heldUp, double running) const {
  if (running <= 0) return 0;
  if (count_ == 0) return 1;
  const double waits = static_cast<double>(count_) * (heldUp + 1) / running;
  double price = 0, sum = 0;
  for (size_t k = 1; k <= count_; ++k) {
    sum += offers_[k - 1];
    price = std::max(price, sum / (static_cast<double>(k) + waits));
  }
  return price;
}

}  // namespace tarcil
