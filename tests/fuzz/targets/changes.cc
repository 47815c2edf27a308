// What a master tells gateways of its changes (UserPort.changes), read and shown as a gateway's event feed
// does.
#include <capnp/message.h>
#include <capnp/schema.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include "cli/output/job_summary.h"
#include "cli/output/server_details.h"
#include "cli/output/server_json.h"
#include "cli/output/violation.h"
#include "gateway/server/reply.h"
#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/master.capnp.h"
#include "tests/fuzz/message_mutation.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

namespace tarcil::fuzz {
namespace {

using wire::UserPort;

// As one line of JSON, as it goes to streams.
void show(const Json& json) {
  const std::string text = gateway::textOf(json);
  require(text.find('\n') == std::string::npos, "an event has a line break");
  require(Json::accept(text), "an event is no JSON");
}

void show(UserPort::ChangesResults::Reader changes) {
  for (const auto job : changes.getJobs()) show(jsonOfSummary(job, /*isLate=*/false));
  for (const auto each : changes.getServers()) {
    const ServerDetails server = readServerDetails(each);
    show(jsonOf(server));
    for (const TaskViolation& violation : server.violations) show(jsonOf(violation));
  }
}

void check(const Bytes& input) {
  kj::Array<capnp::word> words = kj::heapArray<capnp::word>(input.size() / sizeof(capnp::word));
  std::copy_n(input.begin(), words.size() * sizeof(capnp::word), words.asBytes().begin());
  try {
    capnp::FlatArrayMessageReader message(words);
    show(message.getRoot<UserPort::ChangesResults>());
  } catch (const kj::Exception& exception) {
    require(exception.getDescription().size() > 0, "it is refused without a reason");
  }
}

Bytes encoded(capnp::MessageBuilder& message) {
  const auto words = capnp::messageToFlatArray(message);
  return {words.asBytes().begin(), words.asBytes().end()};
}

// Of a job and of a server.
std::vector<Bytes> seeds() {
  capnp::MallocMessageBuilder message;
  auto changes = message.initRoot<UserPort::ChangesResults>();
  changes.setInstance(1);
  changes.setNext(3);
  changes.setWaiting(1);
  auto job = changes.initJobs(1)[0];
  JobId id{};
  id.bytes.fill(7);
  job.setId(bytesOf(id));
  job.setName("example <b>");
  job.setUser("ada");
  job.setReason("no free unit");
  ServerFacts facts;
  facts.name = "server-1";
  facts.platform = "haswell";
  facts.rus = 4;
  ServerStatus status;
  status.up = true;
  auto server = changes.initServers(1)[0];
  write(facts, server.initFacts());
  write(status, server.initStatus());
  server.setContention(bytesOf(Pressure{}));
  server.setBucket(3);
  return {encoded(message)};
}

Bytes mutatedInput(const Bytes& input, Rng& rng) {
  try {
    return mutatedMessage(input, capnp::Schema::from<UserPort::ChangesResults>(), rng);
  } catch (const kj::Exception&) {
    return mutated(input, rng);
  }
}

}  // namespace

const Target kChanges = {"changes", check, seeds, mutatedInput};

}  // namespace tarcil::fuzz
