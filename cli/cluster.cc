#include "cli/cluster.h"

#include <fnmatch.h>
#include <sys/random.h>

#include <cstdlib>

#include "cli/job_listing.h"
#include "cli/output/output.h"
#include "core/base/failure.h"
#include "core/model/file_pieces.h"
#include "core/model/job_size.h"
#include "env/clock.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

Context requireContext(const ContextFlags& flags) {
  auto context = findContext(flags);
  if (context) return std::move(*context);
  const Error& error = context.error();
  throw Failure(error.code == ErrorCode::kInvalid ? kExitBadInput : kExitNoCluster, error.message);
}

std::string requireToken(const Context& context) {
  if (context.tokenFile.empty()) return "";
  auto token = readTokenFile(context.tokenFile);
  if (token) return std::move(*token);
  throw Failure(kExitNoCluster, "cannot use the token: " + token.error().message);
}

Trust requireTrust(const Context& context) {
  Trust trust{.insecure = context.insecure};
  if (!context.authority.empty()) trust.credentials = requireInput(readAuthorityFile(context.authority));
  return trust;
}

void randomBytes(void* to, size_t size) {
  // Up to 256 bytes are never cut short.
  if (::getrandom(to, size, 0) != static_cast<ssize_t>(size)) std::abort();
}

constexpr size_t kShownJobs = 60;  // letters

ClientOptions optionsFor(const std::vector<std::string>& agents) {
  ClientOptions options;
  options.first = makeSeed() % agents.size();
  return options;
}

kj::Promise<void> submitAtOnce(Session& session, const JobId& id, const JobSpec& spec,
                               const FilePieces& files) {
  auto request = session.agent.submitRequest();
  request.setId(bytesOf(id));
  write(spec, request.initSpec());
  for (const auto& piece : files) write(*piece, request.initFiles(static_cast<unsigned>(piece->size())));
  return request.send().ignoreResult();
}

// From the piece of this number on, each when the one before it has been taken.
kj::Promise<void> addPieces(wire::Upload::Client upload, const FilePieces& pieces, size_t number) {
  if (number == pieces.size()) return kj::READY_NOW;
  auto request = upload.addRequest();
  write(*pieces[number], request.initFiles(static_cast<unsigned>(pieces[number]->size())));
  return request.send().then([upload = kj::mv(upload), &pieces, number](auto&&) mutable {
    return addPieces(kj::mv(upload), pieces, number + 1);
  });
}

kj::Promise<void> submitInPieces(Session& session, const JobId& id, const JobSpec& spec, uint64_t bytes,
                                 const FilePieces& pieces) {
  auto request = session.agent.uploadRequest();
  request.setBytes(bytes);
  return request.send().then([&id, &spec, &pieces](auto&& begun) {
    wire::Upload::Client upload = begun.getUpload();
    return addPieces(upload, pieces, 0).then([&id, &spec, upload]() mutable {
      auto submit = upload.submitRequest();
      submit.setId(bytesOf(id));
      write(spec, submit.initSpec());
      return submit.send().ignoreResult();
    });
  });
}

}  // namespace

Cluster::Cluster(const ContextFlags& flags)
    : Cluster(std::make_unique<kj::AsyncIoContext>(kj::setupAsyncIo()), requireContext(flags)) {}

Cluster::Cluster(std::unique_ptr<kj::AsyncIoContext> io, const Context& context)
    : ownIo_(std::move(io)),
      io_(*ownIo_),
      security_(systemClock(), requireTrust(context)),
      agents_(context.agents),
      token_(requireToken(context)),
      client_(net(), agents_, token_, optionsFor(agents_), [](const std::string& message) { say(message); }) {
  for (const std::string& agent : agents_) {
    if (const Status may = security_.mayUse(agent); !may) throw badInput("--cluster: " + may.error().message);
  }
}

Cluster::Cluster(kj::AsyncIoContext& io, const Trust& trust, std::vector<std::string> agents,
                 std::string token)
    : io_(io),
      security_(systemClock(), trust),
      agents_(std::move(agents)),
      token_(std::move(token)),
      client_(net(), agents_, token_, optionsFor(agents_), [](const std::string&) {}) {}

Cluster::Jobs Cluster::find(const JobReference& reference) {
  Jobs jobs;
  const auto add = [&jobs](auto ids, auto numbers) {
    for (uint32_t i = 0; i < ids.size(); ++i)
      jobs.emplace(readJobId(ids[i]), i < numbers.size() ? numbers[i] : 0);
  };
  auto found = ask([&reference](Session& session) {
    auto request = session.user.findRequest();
    request.setPrefix(reference.prefix.c_str());
    request.setNumber(reference.number);
    return request.send();
  });
  add(found.getIds(), found.getNumbers());
  // Agents are asked only for what else the text may mean: one of them may be out of reach.
  const bool isWhole = reference.number > 0 || parseJobId(reference.prefix).has_value();
  if (isWhole && !jobs.empty()) return jobs;
  for (auto& late : LateAgents(*this).find(reference)) add(late.getIds(), late.getNumbers());
  return jobs;
}

Cluster::Jobs Cluster::named(const std::string& pattern) {
  Jobs over, others;
  JobListing listing(*this, {.name = literalPart(pattern)}, SIZE_MAX, std::nullopt);
  while (const auto entry = listing.next()) {
    if (::fnmatch(pattern.c_str(), entry->job.getName().cStr(), 0) != 0) continue;
    Jobs& jobs = isFinal(fromWire(entry->job.getState())) ? over : others;
    jobs.emplace(readJobId(entry->job.getId()), entry->job.getNumber());
  }
  return others.empty() ? over : others;
}

FoundJob Cluster::job(const std::string& text) {
  const auto parsed = parseJobReference(text);
  if (!parsed) throw badInput(parsed.error().message);
  const JobReference& reference = *parsed;
  const Jobs jobs = reference.name.empty() ? find(reference) : named(reference.name);
  if (jobs.size() == 1) return {jobs.begin()->first, jobs.begin()->second, reference.task};
  if (jobs.empty()) {
    if (const auto whole = parseJobId(reference.prefix)) return {*whole, 0, reference.task};
    throw Failure(kExitFailed,
                  "no job has " + describe(reference) + "; `tarcil job list` shows the jobs there are");
  }
  std::string some;
  for (const auto& [id, number] : jobs) {
    if (some.size() > kShownJobs) break;
    const bool byNumber = number > 0 && reference.prefix.empty();
    some += (some.empty() ? "" : ", ") + (byNumber ? std::to_string(number) : "id:" + toString(id));
  }
  throw Failure(kExitFailed,
                "several jobs have " + describe(reference) + ", among them " + some + "; write which one");
}

std::vector<FoundJob> Cluster::jobs(const std::vector<std::string>& texts) {
  std::vector<FoundJob> jobs;
  for (const std::string& text : texts) jobs.push_back(job(text));
  return jobs;
}

JobNumber Cluster::numberOf(const JobId& id) {
  const Jobs jobs = find({.prefix = toString(id)});
  return jobs.empty() ? 0 : jobs.begin()->second;
}

JobId makeJobId() {
  JobId id;
  randomBytes(id.bytes.data(), id.bytes.size());
  return id;
}

uint32_t makeSeed() {
  uint32_t seed = 0;
  randomBytes(&seed, sizeof seed);
  return seed;
}

kj::Promise<void> submitJob(Client& client, const JobId& id, JobSpec spec, std::vector<InputFile> files) {
  struct Submitted {};
  return client
      .ask([id, spec = std::move(spec), bytes = sizeOf(files), pieces = inPieces(files)](Session& session) {
        auto submitted = pieces.size() > 1 ? submitInPieces(session, id, spec, bytes, pieces)
                                           : submitAtOnce(session, id, spec, pieces);
        return submitted.then([]() { return Submitted{}; });
      })
      .then([](Submitted&&) {},
            [&client, id](kj::Exception&& exception) {
              Error error = fromException(exception);
              if (error.code == ErrorCode::kUnavailable && client.hasLoggedIn()) {
                error.message +=
                    "; the job may have been accepted or not: once the cluster is back, `tarcil job status " +
                    toString(id) + "` tells";
              }
              kj::throwFatalException(toException(error));
            });
}

kj::Promise<void> steerJob(Client& client, const JobId& id, wire::JobChange change, uint8_t priority) {
  return client
      .ask([id, change, priority](Session& session) {
        auto request = session.user.steerJobRequest();
        request.setId(bytesOf(id));
        request.setChange(change);
        request.setPriority(priority);
        return request.send();
      })
      .ignoreResult();
}

}  // namespace tarcil
