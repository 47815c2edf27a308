// Texts that are nearly what their readers expect: trees (YAML and JSON), and lines of fields.
#pragma once

#include <string>
#include <string_view>

#include "tests/fuzz/target.h"

namespace tarcil::fuzz {

// A few characters are others, gone, twice or swapped with syntax.
std::string mutatedSyntax(std::string text, Rng& rng);

// YAML or JSON with some of its values changed: scalars are at the edges of what readers take (edges.h), of
// another type, or what stands elsewhere; keys are gone, renamed or twice; entries are gone, twice, many or
// swapped; values are nested in others. Comes in flow style on one line, which is JSON where the text was. A
// text that cannot be read changes in its syntax.
std::string mutatedTree(const std::string& text, Rng& rng);

// Lines of fields with blanks, tabs, commas or equals signs between them: lines are gone, twice or swapped;
// fields are gone, twice or at the edges; sometimes the syntax is broken.
std::string mutatedLines(const std::string& text, Rng& rng);

// Lines of which each is a tree (JSON lines): as above, and the tree of a line changes.
std::string mutatedTreeLines(const std::string& text, Rng& rng);

// As Target::mutated() wants it.
template <std::string (*kMutated)(const std::string&, Rng&)>
Bytes mutatedText(const Bytes& input, Rng& rng) {
  return inputOf(kMutated(textOf(input), rng));
}

}  // namespace tarcil::fuzz
