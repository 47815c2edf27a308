// Real roles in this process, each with whoever it talks to played: for calls on every interface that a role
// serves.
#pragma once

#include <capnp/dynamic.h>
#include <kj/async.h>

#include <memory>
#include <string_view>

namespace tarcil::fuzz {

// One role that has just started, and knows of a server and a job, and a capability of it that a peer has
// logged in to.
class Role {
 public:
  virtual ~Role() noexcept(false) = default;

  virtual kj::WaitScope& scope() = 0;
  virtual capnp::DynamicCapability::Client port() = 0;
  // Throws Broken where the role does not serve on, or keeps what does not agree with itself.
  virtual void checkServes() = 0;
};

// An interface that a role serves.
struct Port {
  std::string_view name;
  capnp::InterfaceSchema (*schema)();
  std::unique_ptr<Role> (*role)();
};

size_t ports();
const Port& port(size_t number);

// Answers every call with nothing in it.
capnp::DynamicCapability::Client deaf(capnp::InterfaceSchema schema);

}  // namespace tarcil::fuzz
