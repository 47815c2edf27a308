// Files of emulated servers (`tarcil up --emulate`).
#include "formats/servers_file.h"

#include <set>

#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const auto servers = parseServers(textOf(input), "servers.yaml");
  if (!servers) return requireNamesPlace(servers.error(), "servers.yaml");
  require(!servers->servers.empty() && servers->servers.size() <= kMaxEmulatedServers,
          "so many servers are read");
  std::set<std::string_view> names;
  uint64_t rus = 0;
  for (const EmulatedServer& server : servers->servers) {
    names.insert(server.name);
    rus += server.rus;
    require(!server.name.empty() && server.rus >= 1 && server.rus <= kMaxRusPerServer, "a server is none");
  }
  require(names.size() == servers->servers.size(), "two servers have one name");
  require(rus <= kMaxEmulatedRus, "the servers have too many units");
}

}  // namespace

const Target kServersFile = {"servers_file", check, noSeeds, mutatedText<mutatedTree>};

}  // namespace tarcil::fuzz
