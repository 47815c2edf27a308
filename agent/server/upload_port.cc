#include "agent/server/upload_port.h"

#include <utility>

#include "env/stop.h"
#include "rpc/errors.h"
#include "rpc/port_server.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// A client that says nothing keeps others of its user waiting, and memory from everybody.
constexpr auto kSilence = 1 * kj::MINUTES;

class UploadPort final : public UserPortServer<wire::Upload> {
 public:
  UploadPort(AgentServer& server, kj::Own<FairCalls::User> user, const Caller& caller, uint64_t bytes,
             kj::Own<FairCalls::Seat> seat)
      : UserPortServer(kj::mv(user), caller.role),
        server_(server),
        caller_(caller),
        open_(kj::heap<Open>(bytes, kj::mv(seat))) {
    waitForNext();
  }

  kj::Promise<void> add(AddContext context) override {
    Open& open = requireOpen();
    auto piece = std::make_shared<const FilePiece>(read(context.getParams().getFiles()));
    context.releaseParams();
    requireOk(open.counter.add(*piece));
    open.pieces.push_back(std::move(piece));
    waitForNext();
    return kj::READY_NOW;
  }

  kj::Promise<void> submit(SubmitContext context) override {
    const Open& open = requireOpen();
    if (!open.counter.isWhole()) {
      return toException(invalid("files: are less than the " + std::to_string(open.counter.announced()) +
                                 " bytes that were announced"));
    }
    const auto params = context.getParams();
    const JobId id = readJobId(params.getId());
    JobSpec spec = read(params.getSpec());
    context.releaseParams();
    silence_ = nullptr;
    auto submitted = kj::mv(open_);
    return server_.submit(caller_, id, std::move(spec), std::move(submitted->pieces))
        .attach(kj::mv(submitted->seat));
  }

 private:
  struct Open {
    Open(uint64_t bytes, kj::Own<FairCalls::Seat> seat) : counter(bytes), seat(kj::mv(seat)) {}

    PieceCounter counter;
    FilePieces pieces;
    kj::Own<FairCalls::Seat> seat;
  };

  Open& requireOpen() {
    if (open_.get() == nullptr) {
      kj::throwFatalException(toException(
          {ErrorCode::kUnavailable, "the upload is over: it was submitted, or nothing came for a minute"}));
    }
    return *open_;
  }

  void waitForNext() {
    silence_ = server_.timer()
                   .afterDelay(kSilence)
                   .then([this]() { open_ = nullptr; })
                   .eagerlyEvaluate(stopsIfFailed("the end of an upload"));
  }

  AgentServer& server_;
  const Caller caller_;
  kj::Own<Open> open_;  // null where the upload is over
  kj::Promise<void> silence_ = nullptr;
};

}  // namespace

wire::Upload::Client makeUploadPort(AgentServer& server, kj::Own<FairCalls::User> user, const Caller& caller,
                                    uint64_t bytes, kj::Own<FairCalls::Seat> seat) {
  return kj::heap<UploadPort>(server, kj::mv(user), caller, bytes, kj::mv(seat));
}

}  // namespace tarcil
