#include "client/context.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/json.h"
#include "formats/yaml_tree.h"
#include "rpc/address.h"

namespace tarcil {
namespace {

constexpr const char* kFile = "/context.json";
constexpr size_t kMaxContextBytes = 64u << 10;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Error malformed(const std::string& path) {
  return invalid(path + R"(: is not {"cluster": [address, ...], "token_file": path, "name": text};)" +
                 " start the cluster again with `tarcil up`, or give --cluster");
}

Result<std::vector<std::string>> addresses(const std::string& source, const std::string& list) {
  auto parsed = parseAddresses(list);
  if (!parsed) return invalid(source + ": " + parsed.error().message);
  return parsed;
}

// A cluster that is named by its agents' addresses.
Result<Context> byAddresses(const std::string& source, const std::string& list,
                            const std::string& tokenFile) {
  auto agents = addresses(source, list);
  if (!agents) return agents.error();
  if (tokenFile.empty() && std::ranges::any_of(*agents, isTcp)) {
    return invalid(
        source +
        ": needs the file that holds your token too; give --token-file FILE or set TARCIL_TOKEN_FILE");
  }
  return Context{*agents, tokenFile, ""};
}

}  // namespace

Result<std::string> dataFolder(const std::string& flag) {
  if (!flag.empty()) return flag;
  if (std::string data = environment("TARCIL_DATA"); !data.empty()) return data;
  // A relative XDG_STATE_HOME is to be ignored, says the XDG specification.
  if (std::string state = environment("XDG_STATE_HOME"); state.starts_with('/')) return state + "/tarcil";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.local/state/tarcil";
  return invalid("neither TARCIL_DATA nor XDG_STATE_HOME nor HOME is set; give --data DIR");
}

namespace {

// The authority of a cluster that this machine has joined; empty where there is none.
std::string authorityOf(const ContextFlags& flags) {
  if (!flags.authority.empty()) return flags.authority;
  if (std::string file = environment("TARCIL_AUTHORITY"); !file.empty()) return file;
  const auto data = dataFolder(flags.data);
  std::error_code ignored;
  const std::string file = data ? *data + "/identity/authority.pem" : "";
  return std::filesystem::exists(file, ignored) ? file : "";
}

// Whether the file is another user's: of a cluster that this user may be let in to all the same.
bool isOfOthers(const std::string& tokenFile) {
  return ::access(tokenFile.c_str(), R_OK) != 0 && errno == EACCES;
}

Result<Context> findAgents(const ContextFlags& flags) {
  std::string tokenFile = flags.tokenFile.empty() ? environment("TARCIL_TOKEN_FILE") : flags.tokenFile;
  if (!flags.cluster.empty()) return byAddresses("--cluster", flags.cluster, tokenFile);
  const std::string fromEnvironment = environment("TARCIL_CLUSTER");
  if (flags.data.empty() && !fromEnvironment.empty()) {
    return byAddresses("TARCIL_CLUSTER", fromEnvironment, tokenFile);
  }
  auto folder = dataFolder(flags.data);
  if (!folder) return folder.error();
  auto context = readContext(*folder);
  if (!context) return context;
  if (!tokenFile.empty()) {
    context->tokenFile = tokenFile;
  } else if (isOfOthers(context->tokenFile) && std::ranges::none_of(context->agents, isTcp)) {
    context->tokenFile.clear();
  }
  return context;
}

}  // namespace

Result<Context> findContext(const ContextFlags& flags) {
  auto context = findAgents(flags);
  if (context) {
    context->authority = authorityOf(flags);
    context->insecure = flags.insecure || environment("TARCIL_INSECURE") == "1";
  }
  return context;
}

Result<Context> readContext(const std::string& folder) {
  const std::string path = folder + kFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::kUnavailable,
                 "no cluster found: " + path +
                     " does not exist; start a cluster here with `tarcil up`, or give --cluster ADDRESS "
                     "--token-file FILE, or --data DIR"};
  }
  auto text = readTextFile(path, kMaxContextBytes);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("cluster") || !json["cluster"].is_array() ||
      !json.contains("token_file") || !json["token_file"].is_string()) {
    return malformed(path);
  }
  Context context;
  for (const Json& agent : json["cluster"]) {
    if (!agent.is_string()) return malformed(path);
    if (Status good = checkAddress(agent.get<std::string>(), AddressUse::kConnect); !good)
      return invalid(path + ": " + good.error().message);
    context.agents.push_back(agent.get<std::string>());
  }
  if (context.agents.empty()) return malformed(path);
  context.tokenFile = json["token_file"].get<std::string>();
  if (json.contains("name") && json["name"].is_string()) context.name = json["name"].get<std::string>();
  if (json.contains("page") && json["page"].is_string()) context.page = json["page"].get<std::string>();
  return context;
}

Status writeContext(const std::string& folder, const Context& context) {
  Json json = {{"cluster", context.agents}, {"token_file", context.tokenFile}, {"name", context.name}};
  if (!context.page.empty()) json["page"] = context.page;
  const std::string path = folder + kFile;
  const std::string next = path + ".new";
  const auto failed = [&path]() { return invalid(path + ": cannot write: " + strerror(errno)); };
  std::ofstream out(next, std::ios::binary | std::ios::trunc);
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  out.close();
  if (!out || std::rename(next.c_str(), path.c_str()) != 0) return failed();
  return {};
}

}  // namespace tarcil
