#include "gateway/server/event_feed.h"

#include <spdlog/spdlog.h>

#include "cli/output/job_summary.h"
#include "cli/output/server_details.h"
#include "cli/output/server_json.h"
#include "cli/output/violation.h"
#include "gateway/server/reply.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil::gateway {
namespace {

// What changes within this time is told together.
constexpr auto kGather = 20 * kj::MILLISECONDS;
constexpr auto kBeforeTheNextTry = 1 * kj::SECONDS;
constexpr uint32_t kJobsOfAPage = 1'000;

}  // namespace

EventFeed::EventFeed(Client& client, kj::Timer& timer, const Clock& clock, EventRing& ring, JobCopy& jobs,
                     PerformanceLog& performances, std::function<void()> happened)
    : client_(client),
      timer_(timer),
      clock_(clock),
      ring_(ring),
      jobs_(jobs),
      performances_(performances),
      happened_(std::move(happened)) {}

kj::Promise<void> EventFeed::run() {
  auto followed =
      follow().then([]() -> kj::Promise<void> { return kj::READY_NOW; },
                    [this](kj::Exception&& exception) -> kj::Promise<void> {
                      isWhole_ = false;
                      spdlog::warn("what changes in the cluster cannot be followed, trying again: {}",
                                   fromException(exception).message);
                      return timer_.afterDelay(kBeforeTheNextTry);
                    });
  return followed.then([this]() { return run(); });
}

kj::Promise<void> EventFeed::follow() {
  auto asked = client_.ask([this](Session& session) {
    auto request = session.user.changesRequest();
    request.setInstance(instance_);
    request.setAfter(after_);
    return request.send();
  });
  return asked
      .then([this](Changes&& changes) -> kj::Promise<void> {
        const bool hasMissed = changes.getMissed();
        take(changes);
        if (!hasMissed) return kj::READY_NOW;
        if (!isFirst_) ring_.forget("the cluster changed while this gateway could not follow");
        isFirst_ = false;
        happened_();
        jobs_.clear();
        violations_.clear();
        return copyJobs();
      })
      .then([this]() {
        isWhole_ = true;
        return timer_.afterDelay(kGather);
      })
      .then([this]() { return follow(); });
}

void EventFeed::take(const Changes& changes) {
  instance_ = changes.getInstance();
  after_ = changes.getNext();
  for (const auto job : changes.getJobs()) take(job, /*isNews=*/true);
  for (const auto server : changes.getServers()) take(server);
  if (changes.getWaiting() != waiting_) {
    waiting_ = changes.getWaiting();
    ring_.add({"queue", textOf(Json{{"waiting", waiting_}})});
  }
  happened_();
}

void EventFeed::take(wire::JobSummary::Reader job, bool isNews) {
  JobCopy::Entry entry{job.getUser().cStr(), textOf(jsonOfSummary(job, /*isLate=*/false))};
  if (isNews) ring_.add({"job", entry.json, entry.owner});
  jobs_.put(readJobId(job.getId()), job.getNumber(), std::move(entry));
}

void EventFeed::take(wire::ServerDetails::Reader from) {
  const ServerDetails server = readServerDetails(from);
  const std::string& name = server.facts.name;
  ring_.add({"server", textOf(jsonOf(server))});
  Json list = Json::array();
  for (const TaskViolation& each : server.violations) list.push_back(jsonOf(each));
  for (const ServerTask& task : server.tasks) {
    if (task.performance && isSound(*task.performance))
      performances_.take({task.job, task.task}, partOf(*task.performance), clock_.now().wall);
  }
  const bool hasAny = !list.empty();
  std::string text = textOf(Json{{"server", name}, {"violations", std::move(list)}});
  const auto told = violations_.find(name);
  const bool isNews = told == violations_.end() ? hasAny : told->second != text;
  if (!isNews) return;
  ring_.add({"violation", text});
  if (hasAny) {
    violations_[name] = std::move(text);
  } else {
    violations_.erase(told);
  }
}

kj::Promise<void> EventFeed::copyJobs() {
  return client_
      .ask([](Session& session) {
        auto request = session.user.jobsRequest();
        request.setLimit(kJobsOfAPage);
        return request.send();
      })
      .then([this](JobsPage&& page) { return copyJobs(kj::heap(kj::mv(page))); });
}

kj::Promise<void> EventFeed::copyJobs(kj::Own<JobsPage> last) {
  for (const auto job : last->getJobs()) {
    if (jobs_.isFull()) return kj::READY_NOW;
    take(job, /*isNews=*/false);
  }
  if (!last->hasNext()) return kj::READY_NOW;
  JobsPage& page = *last;
  return client_
      .ask([&page](Session& session) {
        auto request = session.user.jobsRequest();
        request.setLimit(kJobsOfAPage);
        request.setAfter(page.getNext());
        return request.send();
      })
      .attach(kj::mv(last))
      .then([this](JobsPage&& next) { return copyJobs(kj::heap(kj::mv(next))); });
}

}  // namespace tarcil::gateway
