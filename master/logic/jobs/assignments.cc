#include "master/logic/jobs/assignments.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tarcil {
namespace {

// Of each task only what was said last.
void keepLast(std::vector<TaskAssignment>& tasks) {
  const auto byIndex = [](const TaskAssignment& a, const TaskAssignment& b) { return a.index < b.index; };
  std::stable_sort(tasks.begin(), tasks.end(), byIndex);
  const auto sameIndex = [](const TaskAssignment& a, const TaskAssignment& b) { return a.index == b.index; };
  // Seen from the back, the last comes first and stays.
  const auto last = std::unique(tasks.rbegin(), tasks.rend(), sameIndex);
  tasks.erase(tasks.begin(), last.base());
}

}  // namespace

void join(JobAssignment& waiting, JobAssignment news) {
  if (news.complete || news.over || waiting.over) {
    waiting = std::move(news);
    return;
  }
  waiting.tasks.insert(waiting.tasks.end(), std::make_move_iterator(news.tasks.begin()),
                       std::make_move_iterator(news.tasks.end()));
  if (waiting.tasks.size() > 2 * size_t{waiting.job.spec.tasks}) keepLast(waiting.tasks);
}

}  // namespace tarcil
