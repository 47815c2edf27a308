// The field `placement` of a job file (docs/job-file.md).
#pragma once

#include "core/model/job.h"
#include "formats/yaml_reader.h"

namespace tarcil {

// Placement of a job of so many tasks under this policy; what does not fit is reported and left out.
Placement placementIn(const YamlValue& value, uint32_t tasks, Policy policy);

}  // namespace tarcil
