#include "cli/cluster.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "cli/late_agents.h"
#include "cli/output/output.h"
#include "core/base/failure.h"
#include "core/model/file_pieces.h"
#include "core/model/job_size.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

constexpr size_t kMinPrefix = 4;

Context requireContext(const ContextFlags& flags) {
  auto context = findContext(flags);
  if (context) return std::move(*context);
  const Error& error = context.error();
  throw Failure(error.code == ErrorCode::kInvalid ? kExitBadInput : kExitNoCluster, error.message);
}

std::string requireToken(const Context& context) {
  auto token = readTokenFile(context.tokenFile);
  if (token) return std::move(*token);
  throw Failure(kExitNoCluster, "cannot use the token: " + token.error().message);
}

void randomBytes(void* to, size_t size) {
  // Up to 256 bytes are never cut short.
  if (::getrandom(to, size, 0) != static_cast<ssize_t>(size)) std::abort();
}

ClientOptions optionsFor(const Context& context) {
  ClientOptions options;
  options.first = makeSeed() % context.agents.size();
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

Cluster::Cluster(const ContextFlags& flags) : Cluster(requireContext(flags)) {}

Cluster::Cluster(const Context& context)
    : agents_(context.agents),
      token_(requireToken(context)),
      io_(kj::setupAsyncIo()),
      client_({io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()}, context.agents,
              token_, optionsFor(context), [](const std::string& message) { say(message); }) {}

JobId Cluster::job(const std::string& idOrPrefix) {
  std::string text = idOrPrefix;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (auto id = parseJobId(text)) return *id;
  const bool isPrefix = text.size() >= kMinPrefix && text.size() < 2 * sizeof(JobId::bytes) &&
                        text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!isPrefix) {
    throw badInput("'" + idOrPrefix +
                   "' is no job's id; write at least the first 4 of its 32 hexadecimal digits" +
                   " (`tarcil job list` shows them)");
  }
  auto found = ask([&text](Session& session) {
    auto request = session.user.findRequest();
    request.setPrefix(text.c_str());
    return request.send();
  });
  std::set<JobId> ids = LateAgents(*this).withPrefix(text);
  for (auto id : found.getIds()) ids.insert(readJobId(id));
  if (ids.empty()) {
    throw Failure(kExitFailed,
                  "no job's id begins with " + text + "; `tarcil job list` shows the jobs there are");
  }
  if (ids.size() > 1) {
    throw Failure(kExitFailed, "the ids of several jobs begin with " + text + ", among them " +
                                   toString(*ids.begin()) + " and " + toString(*std::next(ids.begin())) +
                                   "; write more digits");
  }
  return *ids.begin();
}

std::vector<JobId> Cluster::jobs(const std::vector<std::string>& idsOrPrefixes) {
  std::vector<JobId> ids;
  for (const std::string& text : idsOrPrefixes) ids.push_back(job(text));
  return ids;
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

}  // namespace tarcil
