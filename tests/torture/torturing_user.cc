#include "tests/torture/torturing_user.h"

#include <kj/debug.h>

#include "rpc/errors.h"
#include "schema/convert.h"
#include "tests/torture/master_process.h"

namespace tarcil::torture {
namespace {

constexpr uint64_t kMaxWait = 20'000;  // microseconds

}  // namespace

TorturingUser::TorturingUser(Stage& stage)
    : stage_(stage),
      link_(stage, kOperatorToken,
            [this](MasterLink::Login&& login) -> kj::Promise<void> {
              port_ = login.getUser();
              return kj::READY_NOW;
            }),
      tasks_(*this) {
  tasks_.add(live());
}

TorturingUser::~TorturingUser() noexcept = default;

kj::Promise<void> TorturingUser::live() {
  return stage_.pause(kMaxWait).then([this]() {
    if (stage_.acting && link_.attached() && !cancelling_ && !stage_.recentJobs.empty())
      cancel(stage_.recentJobs[stage_.rng.below(stage_.recentJobs.size())]);
    return live();
  });
}

void TorturingUser::cancel(const JobId& job) {
  cancelling_ = true;
  const CancelSent event{++stage_.lastCall, job};
  auto request = KJ_ASSERT_NONNULL(port_).cancelRequest();
  request.setId(bytesOf(job));
  stage_.history.note(event);
  tasks_.add(request.send().ignoreResult().then(
      [this, call = event.call]() -> kj::Promise<void> {
        stage_.history.note(CancelAnswered{call});
        cancelling_ = false;
        return kj::READY_NOW;
      },
      [this, job](kj::Exception&& exception) -> kj::Promise<void> {
        if (fromException(exception).code != ErrorCode::kUnavailable) {  // the job is not there
          cancelling_ = false;
          return kj::READY_NOW;
        }
        return stage_.pause(kMaxWait).then([this, job]() { cancel(job); });
      }));
}

void TorturingUser::taskFailed(kj::Exception&& exception) {
  KJ_LOG(FATAL, exception);
}

}  // namespace tarcil::torture
