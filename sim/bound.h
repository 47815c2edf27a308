// What no schedule can pass.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/ground_truth/ground_truth.h"
#include "sim/workload/workload.h"
#include "sim/world.h"

namespace tarcil::sim {

// An upper bound on the mean performance (work of its longest task / time from its arrival to its end) of the
// jobs from number `first` on that are to be counted, over all schedules: whoever decides, whatever it knows,
// also if tasks could be interrupted, moved and slowed down at will. `truth` may be null.
//
// It is the optimum of a linear relaxation, from above, by prices. Let a task of work p run at speed v(t) and
// the job take R. Then p / R <= the integral of f over its time, where f(v) = v^2 / p, and f(v) <= 2 v / a
// for a task that is a or more old: for every R the tangent 2 v / R - p / R^2 of v^2 / p has just that
// integral. Take any price of holding a place on a server for a second. A job that pays it can at best keep
//   m = max over places of (v - price * p / v),
// so the sum over all jobs is at most the sum of max(m, min(fastest, 2 p / a)), a from the arrival to the end
// of the window in which prices are asked, and the prices of all servers over the window. The window ends
// with the last arrival. Whatever the prices, that is a bound; they are improved step by step. What is
// missing is chance: the bound is what the load forces on average, and far above what can be had where units
// are scarce at times.
//
// Places are what the tasks of one server may be together, each with its speed, where these are few; else,
// and where residents press on them or tasks have phases, the units of a platform, each task at the highest
// speed that any company allows it there. Of a job count the tasks that are as long as its longest.
double performanceBound(const std::vector<SimServer>& servers, const Workload& workload, GroundTruth* truth,
                        size_t first);

}  // namespace tarcil::sim
