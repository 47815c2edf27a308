#include "cli/tarcild/recorder.h"

#include <algorithm>
#include <iterator>

#include "cli/output/server_details.h"
#include "cli/tarcild/recording_lines.h"
#include "core/base/failure.h"
#include "core/base/version.h"
#include "env/clock.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// Looks, of which there is one a second, from one to the next.
constexpr uint64_t kServersEvery = 5, kProgressEvery = 60;
// A job may come to be seen so much later than its time of submission, which its agent sets.
constexpr Duration kLate = std::chrono::seconds(10);
// So many jobs are asked for at once.
constexpr size_t kAtOnce = 100;
constexpr uint32_t kJobsAPage = 1'000;
// The ends of so many jobs are waited for; those of others show when progress is looked at.
constexpr size_t kMaxFollowed = 1'000;
// Between two attempts to hear of a job's end while the cluster is out of reach.
constexpr kj::Duration kPause = 1 * kj::SECONDS;

WallTime now() {
  return systemClock().now().wall;
}

}  // namespace

Recorder::Recorder(Cluster& cluster, GrowingFile& file) : cluster_(cluster), file_(file), following_(*this) {}

Recorder::~Recorder() noexcept(false) = default;

void Recorder::begin() {
  began_ = now();
  late_.emplace(cluster_, began_, [this](const LateJobStatus& job) {
    write(recording::lineOf(recording::recordOf(job)));
    writeProgress(job, stateOf(job));
  });
  write(recording::head(std::string("tarcil ") + version()));
  lookAtSettings();
  lookAtServers();
  lookForJobs(true);
  late_->look(now());
  flush();
}

void Recorder::look() {
  KJ_IF_MAYBE (failure, failure_) {
    kj::throwFatalException(kj::mv(*failure));
  }
  if (++looks_ % kServersEvery == 0) {
    lookAtSettings();
    lookAtServers();
  }
  lookForJobs(false);
  if (looks_ % kProgressEvery == 0) askForJobs({unfinished_.begin(), unfinished_.end()});
  late_->look(now());
  count();
  flush();
}

void Recorder::end(const std::string& why) {
  try {
    lookAtServers();
    lookForJobs(false);
    askForJobs({unfinished_.begin(), unfinished_.end()});
    late_->end(now());
    count();
  } catch (const kj::Exception& exception) {
    if (fromException(exception).code != ErrorCode::kUnavailable) throw;
  }
  write(recording::stopped(why));
  if (const Status status = file_.close(); !status) throw Failure(kExitFailed, status.error().message);
}

void Recorder::taskFailed(kj::Exception&& exception) {
  if (failure_ == nullptr) failure_ = kj::mv(exception);
}

void Recorder::write(Json&& line) {
  Json whole = {{"at", jsonTime(now())}};
  whole.update(line);
  file_.add(whole.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Recorder::flush() {
  if (const Status status = file_.flush(); !status) throw Failure(kExitFailed, status.error().message);
}

void Recorder::lookAtServers() {
  for (const ServerDetails& server : fetchServers(cluster_).servers) {
    Json line = recording::lineOf(server.facts, server.status);
    std::string& written = servers_[server.facts.name];
    if (std::string text = line.dump(); text != written) {
      written = std::move(text);
      write(std::move(line));
    }
  }
  counts_.servers = servers_.size();
}

void Recorder::lookAtSettings() {
  Json line = recording::lineOf(fetchSettings(cluster_));
  if (std::string text = line.dump(); text != settings_) {
    settings_ = std::move(text);
    write(std::move(line));
  }
  for (const auto& [name, share] : fetchPlatforms(cluster_)) {
    Json platform = recording::lineOf(name, share);
    std::string& written = platforms_[name];
    if (std::string text = platform.dump(); text != written) {
      written = std::move(text);
      write(std::move(platform));
    }
  }
}

void Recorder::lookForJobs(bool unfinishedOnly) {
  const WallTime looked = now();
  const WallTime since = unfinishedOnly ? kNever : std::min(lastLook_, looked) - kLate;
  kj::Maybe<capnp::Response<wire::UserPort::JobsResults>> last;
  std::vector<JobId> found;
  for (bool more = true; more;) {
    auto page = cluster_.ask([&](Session& session) {
      auto request = session.user.jobsRequest();
      request.setLimit(kJobsAPage);
      auto filter = request.initFilter();
      filter.setSince(toWire(since));
      if (unfinishedOnly) {
        auto states = filter.initStates(3);
        states.set(0, wire::RunState::QUEUED);
        states.set(1, wire::RunState::STARTING);
        states.set(2, wire::RunState::RUNNING);
      }
      KJ_IF_MAYBE (before, last) {
        request.setAfter(before->getNext());
      }
      return request.send();
    });
    for (auto job : page.getJobs()) {
      const JobId id = readJobId(job.getId());
      const WallTime finished = wallTime(job.getFinished());
      if (finished != kNever && finished < began_) continue;  // over before anybody watched
      if (!known_.contains(id)) found.push_back(id);
    }
    more = page.hasNext();
    last = kj::mv(page);
  }
  // Oldest first, as they came.
  std::reverse(found.begin(), found.end());
  askForJobs(found);
  lastLook_ = looked;
}

void Recorder::askForJobs(const std::vector<JobId>& ids) {
  for (size_t first = 0; first < ids.size(); first += kAtOnce) {
    kj::Vector<kj::Promise<void>> asked;
    for (size_t i = first; i < std::min(first + kAtOnce, ids.size()); ++i) {
      asked.add(fetchAndWrite(ids[i]));
    }
    cluster_.wait(kj::joinPromises(asked.releaseAsArray()));
  }
}

kj::Promise<void> Recorder::fetchAndWrite(const JobId& id) {
  return fetchJob(cluster_.client(), id)
      .then(
          [this, id](JobStatus&& job) {
            if (known_.insert(id).second) {
              write(recording::lineOf(job.record));
              ++jobs_;
            }
            writeProgress(job, job.progress.state);
            if (isFinal(job.progress.state)) {
              unfinished_.erase(id);
            } else if (unfinished_.insert(id).second && followed_ < kMaxFollowed) {
              ++followed_;
              following_.add(follow(id).attach(kj::defer([this]() { --followed_; })));
            }
            count();
          },
          [this, id](kj::Exception&& exception) {
            // The master does not keep ended jobs for ever.
            if (fromException(exception).code != ErrorCode::kNotFound) {
              kj::throwFatalException(kj::mv(exception));
            }
            forget(id);
          });
}

kj::Promise<void> Recorder::follow(const JobId& id) {
  return waitForJob(cluster_.client(), id)
      .then([this, id](RunState) { return fetchAndWrite(id); })
      .then([]() -> kj::Promise<void> { return kj::READY_NOW; },
            [this, id](kj::Exception&& exception) -> kj::Promise<void> {
              switch (fromException(exception).code) {
                case ErrorCode::kNotFound:
                  forget(id);
                  return kj::READY_NOW;
                case ErrorCode::kUnavailable:
                  return cluster_.timer().afterDelay(kPause).then([this, id]() { return follow(id); });
                default:
                  return kj::mv(exception);
              }
            });
}

void Recorder::forget(const JobId& id) {
  known_.insert(id);
  unfinished_.erase(id);
  count();
}

void Recorder::count() {
  counts_.jobs = jobs_ + late_->seen();
  counts_.unfinished = unfinished_.size() + late_->unfinished();
}

template <typename Job>
void Recorder::writeProgress(const Job& job, RunState state) {
  for (size_t first = 0; first < job.tasks.size(); first += kTasksALine) {
    Json line = recording::lineOf(job, first, kTasksALine);
    const bool isNews = !line["progress"]["tasks"].empty() || (first == 0 && isFinal(state));
    if (isNews) write(std::move(line));
  }
}

}  // namespace tarcil
