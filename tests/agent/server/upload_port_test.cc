#include "agent/server/upload_port.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/timer.h>

#include "core/model/file_pieces.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil::upload_port_test {

// The agent's clock is moved by hand; calls of users are taken by the real one.
class UploadPortTest : public testing::Test {
 public:
  ~UploadPortTest() noexcept override = default;

 protected:
  static constexpr uint64_t kMost = 8 << 20;  // more than a user's uploads may take

  // The promise of a port for an upload of so many bytes, once there is a seat for it.
  kj::Promise<wire::Upload::Client> upload(uint64_t bytes) {
    auto user = fair_->user("alice");
    auto seat = user->seat(SeatKind::kUpload, bytes);
    return seat.then([this, bytes, user = kj::mv(user)](kj::Own<FairCalls::Seat>&& given) mutable {
      return makeUploadPort(server_, kj::mv(user), {"alice", Role::kSubmit, {}}, bytes, kj::mv(given));
    });
  }
  static kj::Promise<void> add(wire::Upload::Client& port, const std::string& path) {
    auto request = port.addRequest();
    write(FilePiece{{.path = path, .content = "x"}}, request.initFiles(1));
    return request.send().ignoreResult();
  }
  void pass(kj::Duration duration) {
    now_ += duration;
    clock_.advanceTo(now_);
  }
  Error errorOf(kj::Promise<void> promise) {
    Error error{};
    promise.catch_([&error](kj::Exception&& exception) { error = fromException(exception); })
        .wait(io_.waitScope);
    return error;
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  kj::TimePoint now_ = kj::origin<kj::TimePoint>();
  kj::TimerImpl clock_{now_};
  kj::Own<FairCalls> fair_ = kj::refcounted<FairCalls>(io_.provider->getTimer());
  AgentServer server_{
      {io_.provider->getNetwork(), *io_.lowLevelProvider, clock_}, systemClock(),       Rng(1),
      {"agent-1", "nowhere", {"unix:/nonexistent"}, "token", {}},  [](const Error&) {}, []() {}};
};

TEST_F(UploadPortTest, IsOverWhereNothingComesForAMinute) {
  wire::Upload::Client port = upload(kMost).wait(io_.waitScope);
  auto next = upload(kMost);
  add(port, "a").wait(io_.waitScope);
  pass(59 * kj::SECONDS);
  add(port, "b").wait(io_.waitScope);  // a minute counts from here
  pass(59 * kj::SECONDS);
  add(port, "c").wait(io_.waitScope);
  EXPECT_FALSE(next.poll(io_.waitScope)) << "it leaves no room for another";
  pass(60 * kj::SECONDS);
  EXPECT_EQ(errorOf(add(port, "d")).code, ErrorCode::kUnavailable);
  EXPECT_TRUE(next.poll(io_.waitScope)) << "what it took is free";
}

}  // namespace tarcil::upload_port_test
