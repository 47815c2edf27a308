// Calls on every method of every interface that a role serves, one after the other, to a role in this
// process: the first byte chooses the interface (roles.h); each call is the number of the method, the length
// of its parameters in words as two bytes, the lower first, and the parameters as a message.
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <kj/vector.h>

#include <algorithm>

#include "schema/agent.capnp.h"
#include "schema/convert.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/master.capnp.h"
#include "tests/fuzz/decoding.h"
#include "tests/fuzz/edges.h"
#include "tests/fuzz/message_mutation.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/roles.h"

namespace tarcil::fuzz {
namespace {

using capnp::DynamicCapability;
using capnp::DynamicStruct;
using capnp::InterfaceSchema;

constexpr size_t kMaxCalls = 12;

struct Call {
  uint8_t method = 0;
  Bytes params;
};

struct Calls {
  size_t port = 0;
  std::vector<Call> calls{};
};

Calls callsOf(const Bytes& input) {
  Calls calls;
  if (input.empty()) return calls;
  calls.port = input.front() % ports();
  for (size_t at = 1; at + 3 <= input.size() && calls.calls.size() < kMaxCalls;) {
    const size_t length = sizeof(capnp::word) * (input[at + 1] + 256 * size_t{input[at + 2]});
    const auto begin = input.begin() + static_cast<ptrdiff_t>(at + 3);
    const auto end = begin + static_cast<ptrdiff_t>(std::min(length, input.size() - at - 3));
    calls.calls.push_back({input[at], {begin, end}});
    at = static_cast<size_t>(end - input.begin());
  }
  return calls;
}

Bytes inputOfCalls(const Calls& calls) {
  Bytes input{static_cast<uint8_t>(calls.port)};
  for (const Call& call : calls.calls) {
    const size_t words = std::min<size_t>(call.params.size() / sizeof(capnp::word), UINT16_MAX);
    input.insert(input.end(), {call.method, static_cast<uint8_t>(words), static_cast<uint8_t>(words >> 8)});
    input.insert(input.end(), call.params.begin(),
                 call.params.begin() + static_cast<ptrdiff_t>(words * sizeof(capnp::word)));
  }
  return input;
}

InterfaceSchema::Method methodOf(const Calls& calls, const Call& call) {
  const auto methods = port(calls.port).schema().getMethods();
  return methods[call.method % methods.size()];
}

// Capabilities are not in the input: those of the parameters hear, and say nothing.
void addCapabilities(DynamicStruct::Builder params) {
  for (const auto field : params.getSchema().getFields()) {
    if (field.getType().isInterface()) params.set(field, deaf(field.getType().asInterface()));
  }
}

// What a role throws on purpose; an exception of the standard library has got there through a hole.
void requireRefusal(const kj::Exception& refused) {
  const std::string why(refused.getDescription().cStr());
  require(!why.empty(), "it is refused, and not said why");
  require(!why.starts_with("std::exception"), "a role throws " + why);
}

// Of a message that cannot be read nothing is called.
kj::Maybe<kj::Promise<void>> made(DynamicCapability::Client& on, InterfaceSchema::Method method,
                                  const Bytes& message) {
  try {
    const auto words = wordsOf(message.data(), message.size());
    capnp::FlatArrayMessageReader reader(words);
    auto request = on.newRequest(method);
    const auto params = reader.getRoot<DynamicStruct>(method.getParamType());
    for (const auto field : params.getSchema().getFields()) {
      if (!field.getType().isInterface() && params.has(field)) request.set(field, params.get(field));
    }
    addCapabilities(request);
    return request.send().ignoreResult();
  } catch (const kj::Exception&) {
    return nullptr;
  }
}

void check(const Bytes& input) {
  const Calls calls = callsOf(input);
  const auto role = port(calls.port).role();
  DynamicCapability::Client on = role->port();
  kj::Vector<kj::Promise<void>> answers;
  bool isBroken = false;
  std::string why;
  for (const Call& call : calls.calls) {
    KJ_IF_MAYBE (answer, made(on, methodOf(calls, call), call.params)) {
      // Nothing is thrown through the event loop.
      answers.add(answer
                      ->catch_([&isBroken, &why](kj::Exception&& refused) {
                        try {
                          requireRefusal(refused);
                        } catch (const Broken& broken) {
                          isBroken = true;
                          why = broken.what();
                        }
                      })
                      .eagerlyEvaluate(nullptr));
    }
    role->scope().poll();
  }
  role->checkServes();
  require(!isBroken, why);
}

// --- Seeds: each method once with examples in it, and what only makes sense in a row

void fill(DynamicStruct::Builder params);

// The examples of what is in there, as far as there are any; ids as the examples have them.
void fill(DynamicStruct::Builder params, capnp::StructSchema::Field field) {
  const capnp::Type type = field.getType();
  const auto fillStruct = [](DynamicStruct::Builder to) {
    for (size_t kind = 0; kind < kinds(); ++kind) {
      if (schemaOf(kind) != to.getSchema()) continue;
      static const std::vector<Bytes> kExamples = examples();
      const Bytes& message = kExamples[kind];
      const auto words = wordsOf(message.data(), message.size());
      capnp::FlatArrayMessageReader reader(words);
      const auto from = reader.getRoot<DynamicStruct>(to.getSchema());
      for (const auto each : to.getSchema().getFields()) {
        if (from.has(each)) to.set(each, from.get(each));
      }
      return;
    }
    fill(to);
  };
  if (type.isStruct()) return fillStruct(params.init(field).as<DynamicStruct>());
  if (type.isText()) return params.set(field, "server-0");
  const Bytes id(JobId().bytes.size(), 7), pressures(kResources, 7);
  if (type.isData()) {
    const kj::StringPtr name = field.getProto().getName();
    const Bytes& data = name == "id" || name == "job" ? id : pressures;
    return params.set(field, capnp::Data::Reader(data.data(), data.size()));
  }
  if (!type.isList()) return;
  const capnp::Type element = type.asList().getElementType();
  const bool isByResource = element.isInt32() || field.getProto().getName() == "share";
  auto list = params.init(field, isByResource ? kResources : 1).as<capnp::DynamicList>();
  if (element.isStruct()) fillStruct(list[0].as<DynamicStruct>());
  if (element.isText()) list.set(0, "server-0");
  if (element.isData()) list.set(0, capnp::Data::Reader(id.data(), id.size()));
}

void fill(DynamicStruct::Builder params) {
  for (const auto field : params.getSchema().getFields()) fill(params, field);
}

Bytes filled(InterfaceSchema::Method method) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<DynamicStruct>(method.getParamType()));
  return inputOf(capnp::messageToFlatArray(message));
}

// A late-bound job that an agent takes, with a task for each server.
Bytes lateJob() {
  JobSpec spec;
  spec.name = "late";
  spec.command = {"true"};
  spec.tasks = 3;
  spec.policy = Policy::kLateBinding;
  capnp::MallocMessageBuilder message;
  auto job = message.initRoot<wire::LateClientPort::SubmitParams>().initJobs(1)[0];
  job.setNumber(1);
  job.initId(JobId().bytes.size());
  write(spec, job.initSpec());
  return inputOf(capnp::messageToFlatArray(message));
}

constexpr size_t kLateClientPort = 7;

std::vector<Bytes> seeds() {
  std::vector<Bytes> all = {inputOfCalls({kLateClientPort, {{0, lateJob()}}})};
  for (size_t number = 0; number < ports(); ++number) {
    Calls inARow{.port = number};
    const auto methods = port(number).schema().getMethods();
    for (size_t method = 0; method < methods.size(); ++method) {
      const Call call{static_cast<uint8_t>(method), filled(methods[static_cast<capnp::uint>(method)])};
      all.push_back(inputOfCalls({number, {call}}));
      if (inARow.calls.size() < kMaxCalls) inARow.calls.push_back(call);
    }
    all.push_back(inputOfCalls(inARow));
  }
  return all;
}

// A call is another, gone, twice or elsewhere, or is made anew of examples; the parameters of some change.
Bytes mutatedInput(const Bytes& input, Rng& rng) {
  Calls calls = callsOf(input);
  const auto methods = port(calls.port).schema().getMethods();
  const auto place = [&calls, &rng](size_t more) {
    return calls.calls.begin() + static_cast<ptrdiff_t>(rng.below(calls.calls.size() + more));
  };
  if (calls.calls.empty() || rng.below(4) == 0) {
    const auto method = static_cast<uint8_t>(rng.below(methods.size()));
    calls.calls.insert(place(1), Call{method, filled(methods[method])});
  }
  if (rng.below(6) == 0) calls.calls.insert(place(1), Call(*place(0)));
  if (rng.below(6) == 0) std::swap(*place(0), *place(0));
  if (rng.below(6) == 0 && calls.calls.size() > 1) calls.calls.erase(place(0));
  for (Call& call : calls.calls) {
    if (rng.below(calls.calls.size()) != 0) continue;
    try {
      call.params = mutatedMessage(call.params, methodOf(calls, call).getParamType(), rng);
    } catch (const kj::Exception&) {
      call.params = mutated(call.params, rng);
    }
  }
  return inputOfCalls(calls);
}

}  // namespace

const Target kCalls = {"calls", check, seeds, mutatedInput};

}  // namespace tarcil::fuzz
