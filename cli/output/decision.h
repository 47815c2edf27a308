// A decision as `job explain` and `plan` show it.
#pragma once

#include <map>
#include <string>

#include "cli/output/table.h"
#include "core/decide/job_plan.h"
#include "core/model/profile.h"
#include "core/state/explain.h"
#include "formats/json.h"

namespace tarcil {

// The servers that explanations number.
using ServerNames = std::map<ServerId, ServerName>;

// "?" for one that has no name there.
ServerName serverIn(const ServerNames& names, ServerId id);

// --- JSON ---

// The decision's part of a task's entry: "p", "ratio", "drawn", "limit", "guarantee", "dropped", "best" with
// so many candidates, "seed".
Json jsonOf(const Explanation& why, const Profile& profile, const ServerNames& names,
            size_t candidates = Explanation::kMaxCandidates);

// The same keys for a task that no decision was made for.
Json jsonOfNoDecision();

// Where a task was put: "chosen".
Json jsonOfChosen(const std::string& server, const std::vector<RuIndex>& rus, double q, double s);

// --- Text ---

// What was drawn, what of it suited, and why the rest was turned down.
Fields fieldsOf(const Explanation& why);

// "memory_bandwidth, llc": the resources that the profile makes demands on, the most critical first; that
// they are assumed where nobody has measured them.
std::string sensitivityText(const Profile& profile);

// The best candidates, so many of them; empty where there are none.
std::string candidatesText(const Explanation& why, const Profile& profile, const ServerNames& names,
                           size_t candidates = Explanation::kMaxCandidates);

}  // namespace tarcil
