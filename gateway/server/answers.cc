#include "gateway/server/answers.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "cli/after.h"
#include "cli/cluster_summary.h"
#include "cli/foreseen.h"
#include "cli/job_listing.h"
#include "cli/kept_files.h"
#include "cli/late_agents.h"
#include "cli/late_job.h"
#include "cli/output/explanation.h"
#include "cli/output/job_status.h"
#include "cli/output/job_summary.h"
#include "cli/output/sample_table.h"
#include "cli/output/server_json.h"
#include "cli/output/violation.h"
#include "cli/output/waiting_job.h"
#include "cli/settings.h"
#include "cli/steering.h"
#include "cli/stored_profiles.h"
#include "cli/submission.h"
#include "cli/unmeasured.h"
#include "cli/usages.h"
#include "cli/user_clock.h"
#include "core/base/text.h"
#include "core/model/job.h"
#include "gateway/server/pictures.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil::gateway {
namespace {

// --- Reading what was sent ---

std::vector<std::string> wordsOf(const std::string& list) {
  std::vector<std::string> words;
  for (size_t start = 0; !list.empty();) {
    const size_t end = std::min(list.find(',', start), list.size());
    words.push_back(list.substr(start, end - start));
    if (end == list.size()) break;
    start = end + 1;
  }
  return words;
}

template <typename Number>
std::vector<Number> numbersOf(const std::string& name, const std::string& list) {
  std::vector<Number> numbers;
  for (const std::string& word : wordsOf(list)) {
    Number number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size())
      throw badInput(name + ": " + shown(word) + " does not fit; write numbers with commas between them");
    numbers.push_back(number);
  }
  return numbers;
}

// The body's value of this name; null where it is not there. Failure where it is not an object with no other
// names.
Json fieldOf(const std::string& body, const char* name) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const bool isGood = json.is_object() && std::ranges::all_of(json.items(), [name](const auto& item) {
                        return item.key() == name;
                      });
  if (!isGood) throw badInput(std::string("the body does not fit; write {\"") + name + "\": ...}");
  return json.contains(name) ? json.at(name) : Json();
}

JobFile readJob(const std::string& body) {
  JobFileOptions options;
  options.clock = userClock();
  options.mayNameFiles = false;
  return requireInput(parseJob(body, kJobFile, "", options));
}

// --- Questions ---

Json jobs(Cluster& cluster, const Arguments& arguments) {
  const JobFilter filter = jobFilterOf({.states = wordsOf(arguments.text("state")),
                                        .user = arguments.text("user"),
                                        .name = arguments.text("name"),
                                        .since = arguments.text("since")},
                                       userClock());
  std::optional<JobId> after;
  if (arguments.has("after")) after = requireJob(cluster, arguments.text("after")).id;
  const auto limit = static_cast<size_t>(arguments.whole("limit"));
  Json list = Json::array();
  JobListing listing(cluster, filter, limit, after);
  while (list.size() < limit) {
    const auto entry = listing.next();
    if (!entry) break;
    list.push_back(jsonOfSummary(entry->job, entry->isLate));
  }
  return list;
}

// What is shown of the tasks, and where to go on.
Json pageOf(Json job, size_t tasks, size_t first, size_t shownTasks) {
  job["task_count"] = tasks;
  job["next"] = first + shownTasks < tasks ? Json(first + shownTasks) : Json();
  return job;
}

Json job(Cluster& cluster, const Arguments& arguments) {
  const FoundJob found = requireJob(cluster, arguments.text("job"));
  const auto first = static_cast<TaskIndex>(arguments.whole("first"));
  const auto limit = static_cast<uint32_t>(arguments.whole("limit"));
  const auto known = cluster.wait(foundOrNothing(fetchJobPage(cluster.client(), found.id, first, limit)));
  if (known) return pageOf(jsonOf(*known), known->record.spec.tasks, first, known->tasks.size());
  LateJobStatus late = requireLateJob(cluster, found.id);
  addWhyItWaits(cluster, late);
  Json json = jsonOf(late);
  Json& tasks = json.at("tasks");
  const size_t count = tasks.size(), begin = std::min<size_t>(first, count),
               end = std::min<size_t>(begin + limit, count);
  tasks = Json(tasks.begin() + static_cast<std::ptrdiff_t>(begin),
               tasks.begin() + static_cast<std::ptrdiff_t>(end));
  return pageOf(std::move(json), count, begin, end - begin);
}

// Files of one task, or why there are none to be had.
Json filesOf(Cluster& cluster, const TaskRecord& task) {
  Json json = {{"task", task.index},
               {"state", name(task.state)},
               {"attempt", 0},
               {"files", Json()},
               {"problem", Json()}};
  if (!isFinal(task.state)) return json;
  try {
    const KeptFiles kept = keptFiles(cluster, task.job, task.index);
    if (!kept.ended) return json;
    json["attempt"] = kept.allocation;
    json["files"] = jsonOf(kept.files);
  } catch (const kj::Exception& exception) {
    const Error error = fromException(exception);
    if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kInvalid) throw;
    json["problem"] = error.message;
  }
  return json;
}

Json files(Cluster& cluster, const Arguments& arguments) {
  const FoundJob found = requireJob(cluster, arguments.text("job"));
  const auto first = static_cast<TaskIndex>(arguments.whole("first"));
  const auto limit = static_cast<uint32_t>(arguments.whole("limit"));
  const auto known = cluster.wait(foundOrNothing(fetchJobPage(cluster.client(), found.id, first, limit)));
  Json json = {{"id", toString(found.id)}, {"number", jsonNumber(found.number)}};
  Json tasks = Json::array();
  if (!known) {
    requireLateJob(cluster, found.id);
    json["results"] = Json::array();
    json["tasks"] = std::move(tasks);
    return pageOf(std::move(json), 0, 0, 0);
  }
  const JobSpec& spec = known->record.spec;
  json["results"] = spec.results;
  if (!spec.results.empty()) {
    for (const TaskRecord& task : known->tasks) tasks.push_back(filesOf(cluster, task));
  }
  json["tasks"] = std::move(tasks);
  return pageOf(std::move(json), spec.tasks, first, known->tasks.size());
}

Json explain(Cluster& cluster, const Arguments& arguments) {
  const JobId id = requireJob(cluster, arguments.text("job")).id;
  if (tryFetchJob(cluster, id)) return jsonOf(fetchExplained(cluster, id));
  LateJobStatus late = requireLateJob(cluster, id);
  addWhyItWaits(cluster, late);
  return explanationOf(late);
}

Json servers(Cluster& cluster) {
  auto [all, warning] = fetchServers(cluster);
  std::ranges::sort(all, {}, [](const ServerDetails& server) { return server.facts.name; });
  Json list = Json::array();
  for (const ServerDetails& server : all) list.push_back(jsonOf(server));
  return list;
}

Json queue(Cluster& cluster, const Arguments& arguments) {
  auto answer = cluster.ask([&arguments](Session& session) {
    auto request = session.user.queueRequest();
    request.setLimit(static_cast<uint32_t>(arguments.whole("limit")));
    return request.send();
  });
  Json list = Json::array();
  for (const auto waiting : answer.getJobs()) list.push_back(jsonOfWaiting(waiting));
  return list;
}

Json profile(Cluster& cluster, const Arguments& arguments) {
  const KnownProfile known = findProfile(cluster, arguments.text("name"));
  if (!known.stored && !known.observed)
    throw Failure(kExitFailed, "no profile is stored under " + shown(arguments.text("name")));
  return jsonOf(known);
}

Json sampleTable(const Arguments& arguments) {
  const auto shares = numbersOf<double>("p", arguments.text("p"));
  const auto tasks = numbersOf<uint32_t>("tasks", arguments.text("tasks"));
  const double confidence = numbersOf<double>("confidence", arguments.text("confidence")).front();
  constexpr size_t kMaxRows = 1'000;
  if (!isConfidence(confidence)) throw badInput(std::string("confidence: ") + kConfidenceRemedy);
  if (!areShares(shares)) throw badInput(std::string("p: ") + kSharesRemedy);
  if (!std::ranges::all_of(tasks, [](uint32_t number) { return number >= 1 && number <= kMaxTasks; }))
    throw badInput("tasks: write numbers from 1 to " + std::to_string(kMaxTasks));
  if (shares.size() * tasks.size() > kMaxRows)
    throw badInput("p: the table has more than 1000 rows; write fewer shares or numbers of tasks");
  Json rows = Json::array();
  for (const SampleRow& row : sampleRows(shares, tasks, confidence)) rows.push_back(jsonOf(row));
  return rows;
}

Json violations(Cluster& cluster) {
  Json list = Json::array();
  for (const ServerDetails& server : fetchServers(cluster).servers) {
    for (const TaskViolation& violation : server.violations) list.push_back(jsonOf(violation));
  }
  return list;
}

// --- Changes ---

Json submit(Cluster& cluster, const Arguments& arguments, const std::string& body) {
  JobFile job = readJob(body);
  if (arguments.flag("hold")) job.spec.hold = true;
  addStoredProfile(cluster, kJobFile, job);
  findAfter(cluster, kJobFile, job);
  const JobId id = makeJobId();
  if (job.spec.policy == Policy::kLateBinding) {
    leaveLateJob(cluster, id, std::move(job));
  } else {
    cluster.wait(submitJob(cluster.client(), id, job.spec, job.files));
    if (job.spec.profile.isAssumed) submitMeasuring(cluster, job.spec, job.files);
  }
  return jsonOfAccepted(cluster.numberOf(id), id);
}

Json plan(Cluster& cluster, const Arguments& arguments, const std::string& body) {
  JobFile job = readJob(body);
  const uint64_t seed =
      arguments.has("seed") ? numbersOf<uint64_t>("seed", arguments.text("seed")).front() : makeSeed();
  return jsonOf(foresee(cluster, kJobFile, std::move(job), seed));
}

Json cancel(Cluster& cluster, const Arguments& arguments) {
  const FoundJob job = requireJob(cluster, arguments.text("job"));
  return Json::array({jsonOfCancelled(job, cancelJob(cluster, job.id))});
}

Json steerOne(Cluster& cluster, const Arguments& arguments, wire::JobChange change, int priority = 0) {
  const FoundJob job = requireJob(cluster, arguments.text("job"));
  Steered done = steer(cluster, job, change, priority, /*isNamed=*/true, styleFor(false));
  if (done.refusal) throw Failure(kExitFailed, *done.refusal);
  return Json::array({std::move(done.entry)});
}

Json changePriority(Cluster& cluster, const Arguments& arguments, const std::string& body) {
  const Json priority = fieldOf(body, "priority");
  if (!priority.is_number_unsigned() || priority.get<uint64_t>() > kMaxPriority)
    throw badInput("priority: write a whole number from 0 to " + std::to_string(kMaxPriority));
  return steerOne(cluster, arguments, wire::JobChange::PRIORITY, priority.get<int>());
}

Json steerServer(Cluster& cluster, const Arguments& arguments, wire::ServerChange change, const char* state,
                 Duration deadline = {}) {
  const std::vector names = {arguments.text("name")};
  steerServers(cluster, names, change, deadline);
  return jsonOfSteered(names, state);
}

Json drain(Cluster& cluster, const Arguments& arguments, const std::string& body) {
  const Json text = body.empty() ? Json() : fieldOf(body, "deadline");
  if (!text.is_null() && !text.is_string()) throw badInput("deadline: write a duration, such as \"1h\"");
  const auto deadline = parseDeadline(text.is_null() ? "" : text.get<std::string>());
  if (!deadline) throw badInput("deadline: " + deadline.error().message);
  return steerServer(cluster, arguments, wire::ServerChange::DRAIN, "draining", *deadline);
}

Json jsonFor(Cluster& cluster, const Question& question, const std::string& body) {
  const Arguments& arguments = question.arguments;
  switch (question.route->operation) {
    case Operation::kStatus:
      return jsonOf(fetchStatus(cluster, userClock().now));
    case Operation::kJobs:
      return jobs(cluster, arguments);
    case Operation::kJob:
      return job(cluster, arguments);
    case Operation::kExplain:
      return explain(cluster, arguments);
    case Operation::kFiles:
      return files(cluster, arguments);
    case Operation::kServers:
      return servers(cluster);
    case Operation::kServer:
      return jsonWithTasks(cluster.wait(fetchServer(cluster.client(), arguments.text("name"))));
    case Operation::kQueue:
      return queue(cluster, arguments);
    case Operation::kUsers:
      return jsonOf(fetchUsages(cluster));
    case Operation::kProfiles:
      return jsonOf(keptProfiles(cluster));
    case Operation::kProfile:
      return profile(cluster, arguments);
    case Operation::kSettings:
      return jsonOf(fetchSettings(cluster));
    case Operation::kSampleTable:
      return sampleTable(arguments);
    case Operation::kViolations:
      return violations(cluster);
    case Operation::kContention:
      return contentionPicture(cluster, arguments);
    case Operation::kInterference:
      return interferencePicture(cluster, arguments);
    case Operation::kSharing:
      return sharingPicture(cluster);
    case Operation::kSubmit:
      return submit(cluster, arguments, body);
    case Operation::kPlan:
      return plan(cluster, arguments, body);
    case Operation::kCancel:
      return cancel(cluster, arguments);
    case Operation::kHold:
      return steerOne(cluster, arguments, wire::JobChange::HOLD);
    case Operation::kRelease:
      return steerOne(cluster, arguments, wire::JobChange::RELEASE);
    case Operation::kRerun:
      return steerOne(cluster, arguments, wire::JobChange::RERUN);
    case Operation::kPriority:
      return changePriority(cluster, arguments, body);
    case Operation::kCordon:
      return steerServer(cluster, arguments, wire::ServerChange::CORDON, "cordoned");
    case Operation::kUncordon:
      return steerServer(cluster, arguments, wire::ServerChange::UNCORDON, "uncordoned");
    case Operation::kDrain:
      return drain(cluster, arguments, body);
    case Operation::kLogs:
    case Operation::kFile:
    case Operation::kPerformance:
    case Operation::kSummaries:
    case Operation::kEvents:
    case Operation::kOpenApi:
    case Operation::kReplay:
    case Operation::kBeginReplay:
    case Operation::kCancelReplay:
    case Operation::kWord:
    case Operation::kSignIn:
    case Operation::kSession:
    case Operation::kSignOut:
      break;
  }
  throw Failure(kExitFailed, std::string(question.route->path) + " is not asked of the cluster");
}

}  // namespace

FoundJob requireJob(Cluster& cluster, const std::string& text) {
  const auto reference = parseJobReference(text);
  if (!reference) throw badInput("job: " + reference.error().message);
  if (reference->task || !reference->name.empty())
    throw badInput("job: " + shown(text) + " is no job; write its number or id");
  try {
    return cluster.job(text);
  } catch (const Failure& failure) {
    if (failure.code() != kExitFailed) throw;
    throw toException(notFound(failure.message()));
  }
}

std::string readFile(Cluster& cluster, const Arguments& arguments) {
  if (!arguments.has("path"))
    throw badInput("path: is missing; GET /api/v1/jobs/JOB/files lists what there is");
  return readKeptPiece(cluster, requireJob(cluster, arguments.text("job")).id,
                       static_cast<TaskIndex>(arguments.whole("task")),
                       static_cast<AllocationId>(arguments.whole("attempt")), arguments.text("path"),
                       static_cast<uint64_t>(arguments.whole("offset")));
}

Reply answer(Cluster& cluster, const Question& question, const std::string& body) {
  try {
    return {200, textOf(jsonFor(cluster, question, body))};
  } catch (const Failure& failure) {
    return errorReply(failure, question.route->answering == Answering::kDone);
  } catch (const kj::Exception& exception) {
    return errorReply(fromException(exception));
  }
}

}  // namespace tarcil::gateway
