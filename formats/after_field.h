// The jobs that a job file names to start after, still in its user's words: what they are called in the
// cluster is looked up before the job is sent (cli/after.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/after.h"
#include "formats/yaml_reader.h"

namespace tarcil {

struct NamedJob {
  std::string name;      // 4711, name:sort, id:3f2a
  FilePosition place{};  // in the file
  std::string field{};   // of the file ("after.ok[0]"), or the option
};

struct NamedAfter {
  std::vector<NamedJob> ok, any, failed;
  std::optional<NamedJob> each;

  size_t size() const { return ok.size() + any.size() + failed.size() + (each ? 1 : 0); }
};

// A mapping {ok: [4711], any: ..., failed: ..., each: 4712, unmet: hold}, or one job or a list of them, which
// are then to be done. What does not fit is reported and left out. `unmet` stays as it is where nothing is
// written.
NamedAfter afterIn(const YamlValue& value, After::Unmet& unmet);

}  // namespace tarcil
