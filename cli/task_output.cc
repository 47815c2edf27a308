#include "cli/task_output.h"

#include <algorithm>

#include "cli/output/output.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

using Answer = capnp::Response<wire::ClientPort::OutputResults>;

// Between two signs of life to a task whose output is not passed on.
constexpr kj::Duration kSignOfLife = 30 * kj::SECONDS;

void sayDropped(uint64_t bytes) {
  say(std::to_string(bytes) + " bytes of output were dropped here: limits.output of the job");
}

// Up to where a stream is copied, and how much of that was missing.
struct Copied {
  uint64_t end = 0, dropped = 0;
};

// Hands on what an answer brings of a stream that was copied so far, and says what is missing in between.
template <typename AnswerOf>
Copied takeIn(AnswerOf& answer, const Copied& before, const Sink& sink) {
  const auto content = answer.getContent();
  // An agent of an earlier version does not say where it begins.
  const uint64_t start = std::max(answer.getStart(), before.end);
  Copied after{start + content.size(), before.dropped};
  if (content.size() == 0) return after;
  if (start > before.end) {
    sayDropped(start - before.end);
    after.dropped += start - before.end;
  }
  sink({reinterpret_cast<const char*>(content.begin()), content.size()});
  return after;
}

class OutputCopy final {
 public:
  OutputCopy(Client& client, const OutputSource& source, Follow follow, Sink sink)
      : client_(client), source_(source), follow_(follow), sink_(std::move(sink)) {}

  kj::Promise<uint64_t> run() {
    return ask(follow_ == Follow::kToTheEnd).then([this](Answer&& answer) { return goOn(answer); });
  }

 private:
  kj::Promise<uint64_t> goOn(Answer& answer) {
    const bool isAll = take(answer);
    return passOn().then([this, isAll]() { return isAll ? untilAgain() : run(); });
  }

  // The attempt has ended, and all of it is copied.
  kj::Promise<uint64_t> untilAgain() {
    if (follow_ == Follow::kWhatIsThere || allocation_ == 0) return copied_.dropped;
    return ask(true, allocation_).then([this](Answer&& answer) -> kj::Promise<uint64_t> {
      if (answer.getAllocation() == allocation_) return copied_.dropped;
      return goOn(answer);
    });
  }

  kj::Promise<Answer> ask(bool wait, AllocationId after = 0) {
    return client_.ask([this, wait, after](Session& session) {
      auto request = session.agent.outputRequest();
      request.setId(bytesOf(source_.job));
      request.setTask(source_.task);
      request.setStream(source_.stream);
      request.setOffset(after != 0 ? 0 : copied_.end - left().size());
      request.setWait(wait);
      request.setAfter(after);
      request.setOnly(source_.only);
      request.setTaken(source_.pace != nullptr && after == 0 ? allocation_ : 0);
      return request.send();
    });
  }

  // Whether that was all.
  bool take(Answer& answer) {
    const bool beginsAnew = answer.getAllocation() != allocation_ && copied_.end != 0;
    allocation_ = answer.getAllocation();
    if (beginsAnew) {
      copied_.end = 0;
      return false;
    }
    const Sink hold = [this](std::string_view text) {
      received_ = text;
      passed_ = 0;
    };
    copied_ = takeIn(answer, copied_, source_.pace != nullptr ? hold : sink_);
    return answer.getEnded() || (follow_ == Follow::kWhatIsThere && answer.getContent().size() == 0);
  }

  // What was received, as the sink takes it.
  kj::Promise<void> passOn() {
    for (size_t room; !left().empty() && (room = source_.pace->room()) > 0;) {
      const std::string_view piece = left().substr(0, room);
      passed_ += piece.size();
      sink_(piece);
    }
    if (left().empty()) return kj::READY_NOW;
    return source_.pace->untilRoom().exclusiveJoin(sayThatWeAreHere()).then([this]() { return passOn(); });
  }
  std::string_view left() const { return std::string_view(received_).substr(passed_); }

  kj::Promise<void> sayThatWeAreHere() {
    return source_.pace->timer()
        .afterDelay(kSignOfLife)
        .then([this]() { return ask(false); })
        // What is wrong, the next piece of output will tell.
        .then([](Answer&&) {}, [](kj::Exception&&) {})
        .then([this]() { return sayThatWeAreHere(); });
  }

  Client& client_;
  const OutputSource source_;
  const Follow follow_;
  Sink sink_;
  Copied copied_;
  std::string received_;
  size_t passed_ = 0;  // bytes of that
  AllocationId allocation_ = 0;
};

kj::Promise<void> copyLateFrom(Client& client, OutputSource source, Follow follow, Sink sink,
                               uint64_t offset) {
  return client
      .ask([source, follow, offset](Session& session) {
        auto request = session.agent.lateOutputRequest();
        request.setId(bytesOf(source.job));
        request.setTask(source.task);
        request.setStream(source.stream);
        request.setOffset(offset);
        request.setWait(follow == Follow::kToTheEnd);
        return request.send();
      })
      .then([&client, source, follow, sink, offset](auto&& answer) -> kj::Promise<void> {
        const uint64_t end = takeIn(answer, {.end = offset}, sink).end;
        if (answer.getContent().size() == 0 || answer.getEnded()) return kj::READY_NOW;
        return copyLateFrom(client, source, follow, sink, end);
      });
}

}  // namespace

kj::Promise<void> copyLateOutput(Client& client, const OutputSource& source, Follow follow, Sink sink) {
  return copyLateFrom(client, source, follow, std::move(sink), 0);
}

kj::Promise<uint64_t> copyOutput(Client& client, const OutputSource& source, Follow follow, Sink sink) {
  auto copy = kj::heap<OutputCopy>(client, source, follow, std::move(sink));
  auto done = copy->run();
  return done.attach(kj::mv(copy));
}

}  // namespace tarcil
