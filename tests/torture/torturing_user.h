// A user who cancels jobs that others have just submitted, and repeats it until it is answered.
#pragma once

#include <kj/async.h>

#include "schema/master.capnp.h"
#include "tests/torture/master_link.h"

namespace tarcil::torture {

class TorturingUser final : private kj::TaskSet::ErrorHandler {
 public:
  explicit TorturingUser(Stage& stage);
  ~TorturingUser() noexcept;

  bool quiet() const { return link_.attached() && !cancelling_; }

 private:
  kj::Promise<void> live();
  void cancel(const JobId& job);

  void taskFailed(kj::Exception&& exception) override;

  Stage& stage_;
  bool cancelling_ = false;
  kj::Maybe<wire::UserPort::Client> port_;
  MasterLink link_;
  kj::TaskSet tasks_;
};

}  // namespace tarcil::torture
