#include "master/store/rocks/backups.h"

#include "env/stop.h"
#include "rpc/errors.h"

namespace tarcil {

Backups::~Backups() {
  if (thread_.joinable()) thread_.join();
}

kj::Promise<void> Backups::take(std::string folder) {
  if (thread_.joinable()) {
    return toException({ErrorCode::kConflict, "another backup is being taken; try again when it is done"});
  }
  auto copied = kj::newPromiseAndCrossThreadFulfiller<Status>();
  auto answer = kj::newPromiseAndFulfiller<void>();
  copied_ = kj::mv(copied.fulfiller);
  thread_ = std::thread([this, folder = std::move(folder)]() {
    copied_->fulfill(caught([this, &folder]() { return store_.backup(folder); }));
  });
  finishing_ = copied.promise
                   .then([this, fulfiller = kj::mv(answer.fulfiller)](Status&& status) mutable {
                     thread_.join();
                     if (status.ok()) {
                       fulfiller->fulfill();
                     } else {
                       fulfiller->reject(toException(status.error()));
                     }
                   })
                   .eagerlyEvaluate(stopsIfFailed("the end of a backup"));
  return kj::mv(answer.promise);
}

}  // namespace tarcil
