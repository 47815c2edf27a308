// Which servers have the same value of an attribute, for spreading and packing (core/model/job.h: Domain).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/state/cluster_state.h"

namespace tarcil {

// State and attribute outlive it.
class Domains {
 public:
  // Of one attribute equal where the value is, and valid as long as the state does not change.
  using Key = std::string_view;

  Domains(const ClusterState& state, const std::string& attribute) : state_(&state), attribute_(&attribute) {}

  // Servers without the attribute are one domain.
  Key of(ServerId server) const { return state_->attribute(server, *attribute_).value_or(Key()); }

 private:
  const ClusterState* state_;
  const std::string* attribute_;
};

}  // namespace tarcil
