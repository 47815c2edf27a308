#include "core/state/vacancy.h"

#include <algorithm>

namespace tarcil {

Pressure slackLeft(const Vacancy& vacancy) {
  Pressure left{};
  for (size_t i = 0; i < left.size(); ++i) {
    const uint8_t slack = vacancy.slack[i];
    const auto finite = static_cast<uint8_t>(std::max(slack, Vacancy::kNoSlack) - Vacancy::kNoSlack);
    left[i] = slack == Vacancy::kUnbounded ? slack : finite;
  }
  return left;
}

Vacancy vacancyOf(const ServerStatus& status, uint32_t rus, const Share& share, ContentionModel model) {
  Vacancy vacancy;
  vacancy.contention = contention(model, status.sum, share, status.background, static_cast<int>(rus));
  const PressureSum slack = slackOf(status.bound, status.sum, share, status.background);
  for (size_t i = 0; i < slack.size(); ++i) {
    const int32_t raised = std::clamp<int32_t>(slack[i] + Vacancy::kNoSlack, 0, Vacancy::kMaxSlack);
    const auto finite = static_cast<uint8_t>(raised);
    vacancy.slack[i] = status.bound[i] == kNoResident ? Vacancy::kUnbounded : finite;
  }
  vacancy.free = static_cast<uint16_t>(status.free.size());
  vacancy.rus = static_cast<uint16_t>(rus);
  vacancy.usable = status.up && !status.cordoned;
  return vacancy;
}

}  // namespace tarcil
