// The master's records as they are read from its disk: a byte with the length of the key, the key, the value.
#include <kj/exception.h>

#include <algorithm>
#include <memory>

#include "master/store/codec/store_codec.h"
#include "schema/store.capnp.h"
#include "tests/fuzz/example.h"
#include "tests/fuzz/message_mutation.h"
#include "tests/fuzz/mutation.h"

namespace tarcil::fuzz {
namespace {

struct Entry {
  std::string key;
  Bytes value;
};

Entry entryOf(const Bytes& input) {
  if (input.empty()) return {};
  const auto begin = input.begin() + 1;
  const auto end = begin + static_cast<ptrdiff_t>(std::min<size_t>(input.front(), input.size() - 1));
  return {{begin, end}, {end, input.end()}};
}

Bytes inputOfEntry(const Entry& entry) {
  Bytes input{static_cast<uint8_t>(entry.key.size())};
  input.insert(input.end(), entry.key.begin(), entry.key.end());
  input.insert(input.end(), entry.value.begin(), entry.value.end());
  return input;
}

void check(const Bytes& input) {
  const Entry entry = entryOf(input);
  try {
    const Record record = decodeRecord(entry.key, textOf(entry.value));
    const std::string key = keyOf(record), value = encodeRecord(record);
    const Record again = decodeRecord(key, value);
    require(keyOf(again) == key && encodeRecord(again) == value,
            "a record does not come back as it was written");
  } catch (const kj::Exception& refused) {
    require(refused.getDescription().size() > 0, "it is refused, and not said why");
  }
}

std::vector<Bytes> seeds() {
  const auto job = example<wire::JobRecord>();
  ServerRecord server{.id = 3, .facts = example<wire::ServerFacts>(), .monitor = "m", .cordonReason = "ada"};
  server.pool.held.insert(3);
  server.pool.answer.sequence = 1;
  FilesRecord files{job.id, std::make_shared<const std::vector<InputFile>>(
                                std::vector<InputFile>{{"a/file", 0644, "content"}})};
  const std::vector<Record> records = {ClusterRecord{"cluster", 1, 100},
                                       server,
                                       AgentRecord{"agent-1", 3},
                                       AnswerRecord{"agent-1", 3, example<wire::CommitAnswer>()},
                                       job,
                                       example<wire::JobProgress>(),
                                       example<wire::TaskRecord>(),
                                       example<wire::DecisionRecord>(),
                                       files,
                                       PlatformRecord{"haswell", fullShare()},
                                       example<wire::QualitySettings>(),
                                       example<wire::Usage>(),
                                       example<wire::StoredProfile>(),
                                       example<wire::Profiling>(),
                                       example<wire::ObservedProfile>()};
  std::vector<Bytes> all;
  for (const Record& record : records)
    all.push_back(inputOfEntry({keyOf(record), inputOf(encodeRecord(record))}));
  return all;
}

Bytes mutatedInput(const Bytes& input, Rng& rng) {
  Entry entry = entryOf(input);
  if (rng.below(8) == 0) entry.key = entry.key.substr(0, rng.below(entry.key.size() + 1));
  try {
    entry.value = mutatedMessage(entry.value, capnp::Schema::from<wire::StoredRecord>(), rng);
  } catch (const kj::Exception&) {
    entry.value = mutated(entry.value, rng);
  }
  return inputOfEntry(entry);
}

}  // namespace

const Target kStoreRecord = {"store_record", check, seeds, mutatedInput};

}  // namespace tarcil::fuzz
