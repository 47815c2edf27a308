// Job files, as `tarcil submit` reads them. The files that they name are not there.
#include "formats/job_file.h"

#include <capnp/message.h>
#include <capnp/serialize.h>

#include "core/model/job_check.h"
#include "schema/convert.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

constexpr WallTime kNow{std::chrono::hours(500'000)};

kj::Array<capnp::word> sent(const JobSpec& spec) {
  capnp::MallocMessageBuilder message;
  write(spec, message.initRoot<wire::JobSpec>());
  return capnp::messageToFlatArray(message);
}

void check(const Bytes& input) {
  JobFileOptions options;
  options.clock.now = kNow;
  const auto job = parseJob(textOf(input), "job.yaml", "/nonexistent", options);
  if (!job) return requireNamesPlace(job.error(), "job.yaml");
  // What a client takes, agents and the master take, and they get it as it was.
  const Status status = checkJob(job->spec, job->files);
  require(status.ok(), "a job is read that nobody takes: " + (status ? "" : status.error().message));
  const auto once = sent(job->spec);
  capnp::FlatArrayMessageReader message(once);
  require(read(message.getRoot<wire::JobSpec>()) == job->spec, "a job does not arrive as it was read");
}

}  // namespace

const Target kJobFile = {"job_file", check, noSeeds, mutatedText<mutatedTree>};

}  // namespace tarcil::fuzz
