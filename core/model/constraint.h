// Conditions on a server's attributes as people write them: `platform in (haswell-2.3)`, `gpu = true`, `rack
// != r3`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/job.h"

namespace tarcil {

// Bounds of one expression.
inline constexpr size_t kMaxConstraintBytes = 4'096;
inline constexpr size_t kMaxConstraintValues = 256;

// Reads one expression, which is an attribute's name followed by one of
//   = VALUE   != VALUE   < NUMBER   > NUMBER   in (VALUE, ...)   not in (VALUE, ...)   exists
// Values are compared as text, except by < and >. A name or value with spaces or any of ,()=!<> in it stands
// in single or double quotes; there are no escapes. Error: kInvalid with "column N: problem; remedy", N
// counting bytes of `text` from 1.
Result<Constraint> parseConstraint(std::string_view text);

// The expression that parseConstraint reads as `constraint`; of several all, with "; " between them.
std::string describe(const Constraint& constraint);
std::string describe(const std::vector<Constraint>& constraints);

// Attributes that every server has, beside "platform": its name, and its rack's.
inline constexpr std::string_view kServerAttribute = Domain::kServer;
inline constexpr std::string_view kRackAttribute = Domain::kRack;

// The condition that an entry of placement.require is; nullopt where it is a server's name. Error: as of
// parseConstraint().
Result<std::optional<Constraint>> conditionIn(std::string_view entry);

// The condition that the server is one of these.
Constraint onServers(std::vector<std::string> names);

// The constraint that lists the only servers, or racks, whose servers can meet them all, so that nobody has
// to look at others; nullptr where none does.
const Constraint* listIn(const std::vector<Constraint>& constraints);

// Whether a server whose attribute of the constraint has this value meets it. `<` and `>` compare as numbers
// and never hold where either side is not one. nullopt, an attribute that the server does not have, meets
// `!=` and `not in` only.
bool meets(const Constraint& constraint, std::optional<std::string_view> value);

// The same with all attributes of the server.
bool meets(const Constraint& constraint, const std::map<std::string, std::string>& attributes);

}  // namespace tarcil
