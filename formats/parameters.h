// Parameters of a job file: `parameters:` declares them, {{name}} stands for a value, and whoever submits may
// choose it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "formats/problems.h"
#include "formats/yaml_tree.h"

namespace tarcil {

inline constexpr size_t kMaxParameters = 1'000;
inline constexpr size_t kMaxParameterName = 64;
inline constexpr size_t kMaxParameterBytes = 64u << 10;   // of a value
inline constexpr size_t kMaxSubstitutedBytes = 4u << 20;  // of all values, wherever they are put
inline constexpr std::string_view kParametersKey = "parameters";

// Chosen values by the parameters' names.
using ChosenValues = std::map<std::string, std::string, std::less<>>;

// Adds NAME=VALUE, as written behind --set. kInvalid, without a place: no pair, no name of a parameter,
// chosen already, too long or no UTF-8.
Status addChosenValue(std::string_view pair, ChosenValues& to);

// Puts values in the place of {{name}} in every scalar of the file's root but keys and `parameters`; {{{{
// becomes {{. A scalar that is {{name}} and nothing else becomes what the value reads as, a number for
// example; others stay texts. Values are looked into no further: they cannot bring structure or parameters of
// their own. Leaves a file without `parameters` as it is. What is found later to be wrong at a scalar with
// values in it, is said with their names. Problems: parameters that are not declared, not given or not used,
// values that are chosen for none, bounds.
void substituteParameters(YamlNode& root, const ChosenValues& chosen, Problems& problems);

}  // namespace tarcil
