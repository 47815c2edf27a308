// Token files: the master's table, and the one token of a role or user.
#include <sstream>

#include "rpc/token.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

// What the first word of each line that is no comment is good for.
void checkTable(const TokenTable& table, const std::string& text) {
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::string token;
    std::stringstream(line) >> token;
    const auto caller = table.check(token);
    require(caller.ok() && !caller->user.empty(), "a token of the table is refused");
    require(!table.check(token.substr(1)).ok() || text.find(token.substr(1)) != std::string::npos,
            "a token is taken that is not in the table");
  }
  require(!table.check("").ok(), "no token at all is taken");
}

void check(const Bytes& input) {
  const MemoryFile file(input);
  const auto table = TokenTable::read(file.path());
  if (table) {
    checkTable(*table, textOf(input));
  } else {
    requireBegins(table.error(), file.path() + ":");
  }
  if (const auto token = readTokenFile(file.path())) {
    require(!token->empty() && token->find_first_of(" \t\n") == std::string::npos, "a token is none");
  } else {
    requireBegins(token.error(), file.path() + ":");
  }
}

}  // namespace

const Target kTokens = {"tokens", check, noSeeds, mutatedText<mutatedLines>};

}  // namespace tarcil::fuzz
