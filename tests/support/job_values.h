// Values of a job's plain fields that are not the defaults, for whoever goes through the table.
#pragma once

#include <string>
#include <type_traits>

#include "core/model/job_fields.h"

namespace tarcil {

// Gives the field a value within its bounds that differs from the default.
template <typename Field>
void setUnusual(const Field& field, JobSpec& job) {
  using Kind = std::remove_cvref_t<decltype(field.kind)>;
  auto& value = field.of(job);
  using Value = std::remove_cvref_t<decltype(value)>;
  if constexpr (std::is_same_v<Kind, Flag>) {
    value = !value;
  } else if constexpr (std::is_enum_v<Value>) {
    value = field.kind.names.back().second;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    constexpr bool kIsPath = std::is_same_v<Kind, AbsolutePath> || std::is_same_v<Kind, InputPath> ||
                             std::is_same_v<Kind, OutputPath>;
    value = kIsPath ? "/srv/x" : std::is_same_v<Kind, ImageName> ? "docker://debian:12" : "unusual";
  } else if constexpr (std::is_same_v<Kind, WholeNumber>) {
    value = static_cast<Value>(field.kind.most);
  } else if constexpr (std::is_same_v<Kind, Size>) {
    value = 12'345'678;
  } else if constexpr (std::is_same_v<Kind, RealNumber>) {
    value = 0.625;
  } else if constexpr (std::is_same_v<Kind, Span>) {
    value = field.kind.most - Duration(1);
  } else {
    value = kNever + std::chrono::hours(24 * 20'000);
  }
}

}  // namespace tarcil
