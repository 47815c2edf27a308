// The simulated cluster: servers on which tasks really run, as fast as the ground truth lets them, and
// the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/event_queue.h"
#include "sim/ground_truth/ground_truth.h"
#include "sim/policies/scheduler.h"
#include "sim/workload/workload.h"

namespace tarcil::sim {

// A task that no policy placed: it runs from the beginning to the end of the simulation.
struct SimResident {
  ApplicationNumber application = 0;
  uint32_t rus = 1;
};

struct SimServer {
  PlatformNumber platform = 0;
  uint32_t units = 1;
  std::vector<SimResident> residents{};

  // Units that residents leave to the tasks of jobs.
  uint32_t capacity() const {
    uint32_t left = units;
    for (const SimResident& resident : residents) left -= resident.rus;
    return left;
  }
};

// How one job fared.
struct JobOutcome {
  SimTime ended{};          // of its last task; 0 while it runs
  Duration waited{};        // of its tasks on average, from the arrival to the start
  float quality = 1;        // of its tasks on average: time alone on the best platform / time that it took
  uint32_t unfinished = 0;  // tasks
};

// Where a run stands, for people who wait for it.
struct Progress {
  size_t jobsDone = 0, jobs = 0;
  uint64_t events = 0;
  SimTime now{};
};

// One thread; everything that happens follows from the arguments and from what the policy does.
class World {
 public:
  // `truth` is null where tasks run at full speed whatever is beside them. All arguments outlive the world.
  World(const std::vector<SimServer>& servers, const Workload& workload, GroundTruth* truth);

  // While jobs come, `look` is called each time that so long has passed. Before run().
  void observe(Duration every, std::function<void(SimTime)> look);

  // Until every job has ended, or nothing is left that could happen but messages of the policy to itself.
  // `watch`, where given, is called now and then.
  void run(Scheduler& scheduler, const std::function<void(const Progress&)>& watch = nullptr);

  // --- For policies

  SimTime now() const { return now_; }
  // Comes back to the policy's received() after so long.
  void send(Duration delay, const Message& message);
  // The task holds its units from now on. Each task is started once; the server has the units free.
  void start(TaskNumber task, ServerNumber server);

  const std::vector<SimServer>& servers() const { return servers_; }
  const Workload& workload() const { return workload_; }
  const SimJob& job(JobNumber job) const { return workload_.jobs[job]; }
  JobNumber jobOf(TaskNumber task) const { return jobOf_[task]; }
  // Units of the server that no task holds; below 0 only after a violation.
  int32_t freeUnits(ServerNumber server) const { return free_[server]; }
  uint64_t units() const { return units_; }
  // Applications of what runs there, residents first. Empty where there is no ground truth.
  std::span<const ApplicationNumber> runningOn(ServerNumber server) const {
    return running_[server].applications;
  }
  // How fast they run, in the same order.
  std::span<const double> speedsOn(ServerNumber server) const { return running_[server].speed; }
  // Tasks in the same order; residents have no number that means anything.
  std::span<const TaskNumber> tasksOn(ServerNumber server) const { return running_[server].tasks; }
  GroundTruth* truth() const { return truth_; }
  // The part of what the truth says at which the task runs.
  double paceOf(TaskNumber task) const { return workload_.pace.empty() ? 1 : workload_.pace[task]; }

  // --- What came of it

  const std::vector<JobOutcome>& outcomes() const { return outcomes_; }
  const std::vector<float>& taskQualities() const { return qualities_; }  // of counted jobs, as they ended
  uint64_t events() const { return events_; }
  // Tasks that were started twice, or on a server without the units: none, if the policy is right.
  uint64_t violations() const { return violations_; }
  size_t jobsDone() const { return jobsDone_; }
  // Units that tasks of jobs hold now, by stream.
  const std::vector<uint64_t>& heldByStream() const { return heldByStream_; }
  // How fast each resident has run so far, relative to alone on its server.
  std::vector<float> residentQualities() const;
  // Part of all units that was held, on average from the first arrival to the last.
  double utilisation() const;

 private:
  enum class Kind : uint8_t { kMessage, kTaskEnds, kServerTurns };

  struct Event {
    Kind kind;
    uint8_t message;
    uint32_t a, b, c;
  };

  // What runs on one server, in columns, its residents first. Kept only where there is a ground truth.
  struct Running {
    std::vector<TaskNumber> tasks;
    std::vector<ApplicationNumber> applications;
    std::vector<double> left;   // microseconds of work; of residents what they did, below 0
    std::vector<double> speed;  // of it for each microsecond
    std::vector<uint32_t> phase;
    SimTime since{};    // left counts from here
    uint32_t turn = 0;  // events of other turns are void
  };

  void handle(const Event& event, Scheduler& scheduler);
  // Nothing changes before this time: it may be looked at what was until then.
  void lookUntil(SimTime time);
  // Lets the tasks of the server have worked until now.
  void workOn(Running& running) const;
  // The neighbours have changed: speeds anew, and the next end.
  void reckon(ServerNumber server);
  void turn(ServerNumber server, Scheduler& scheduler);
  void end(TaskNumber task, ServerNumber server);
  // Of the work of this one, what is left when its phase ends.
  double leftAfterPhase(const Running& running, size_t place) const;
  void countHeld();

  const std::vector<SimServer>& servers_;
  const Workload& workload_;
  GroundTruth* const truth_;
  std::vector<JobNumber> jobOf_;
  EventQueue<Event> queue_;
  SimTime now_{};
  size_t nextJob_ = 0;
  std::vector<int32_t> free_;
  std::vector<Running> running_;
  std::vector<SimTime> started_;  // by task; kNotStarted before
  std::vector<JobOutcome> outcomes_;
  std::vector<float> qualities_;
  std::vector<TaskNumber> ended_;  // in one turn of a server
  uint64_t units_ = 0;
  uint64_t held_ = 0;
  std::vector<uint64_t> heldByStream_;
  Duration lookEvery_{};
  SimTime nextLook_{};
  std::function<void(SimTime)> look_;
  SimTime heldSince_{};
  double heldUnitMicros_ = 0;
  uint64_t events_ = 0, violations_ = 0;
  uint64_t lastStart_ = 0;  // events until then
  size_t jobsDone_ = 0;
};

}  // namespace tarcil::sim
