#include "core/state/slot.h"

#include "core/model/contention.h"

namespace tarcil {

SlotView viewSlot(const JobView& job, const Judging& judging, const ServerFacts& facts,
                  const ServerStatus& status, const Share& share) {
  SlotView view;
  view.contention =
      contention(judging.contention, status.sum, share, status.background, static_cast<int>(facts.rus));
  view.judgement = judge(job, view.contention, judging.model, judging.margin);
  view.slack = slackOf(status.bound, status.sum, share, status.background);
  if (judging.protectNeighbours) view.broken = brokenResource(job.caused, view.slack, judging.noiseFloor);
  return view;
}

}  // namespace tarcil
