// One peer's connection to the master, made again whenever it is lost.
#pragma once

#include <kj/function.h>

#include <optional>
#include <string>

#include "schema/master.capnp.h"
#include "tests/torture/stage.h"

namespace tarcil::torture {

class MasterLink final {
 public:
  using Login = capnp::Response<wire::MasterGate::LoginResults>;

  // `attach` is called after each login, and may take its time; the link counts as attached when it is done.
  MasterLink(Stage& stage, std::string token, kj::Function<kj::Promise<void>(Login&&)> attach);

  // Drops the connection; the next login comes no sooner than after so long.
  void cut(uint64_t awayMicroseconds = 0);
  bool attached() const { return attached_; }

 private:
  kj::Promise<void> logIn(capnp::Capability::Client bootstrap);

  Stage& stage_;
  const std::string token_;
  kj::Function<kj::Promise<void>(Login&&)> attach_;
  bool attached_ = false;
  uint64_t away_ = 0;
  kj::Own<kj::PromiseFulfiller<void>> cut_;
  kj::Promise<void> running_;
};

}  // namespace tarcil::torture
