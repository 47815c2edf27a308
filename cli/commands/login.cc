// tarcil login: a token of limited life for oneself, for use elsewhere.
#include <cstdlib>
#include <filesystem>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/people.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "rpc/private_file.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

struct LoginFlags {
  ContextFlags cluster;
  std::string life = "8h", write;
  bool json = false;
};

std::string defaultFile() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && folder[0] == '/')
    return std::string(folder) + "/tarcil/token";
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
    return std::string(home) + "/.config/tarcil/token";
  throw badInput("--write: neither XDG_CONFIG_HOME nor HOME is set; name a file");
}

// What is there is replaced as a whole.
void writeToken(const std::filesystem::path& file, const std::string& token) {
  const auto folder = lockFolder(file.parent_path());
  if (!folder) throw badInput("--write: " + folder.error().message);
  const Status written = replacePrivateFile(file, token + "\n", *folder);
  if (!written) throw badInput("--write: " + written.error().message);
}

int login(const LoginFlags& flags) {
  const auto life = parseDuration(flags.life);
  if (!life) throw badInput("--ttl: " + life.error().message);
  const std::string file = std::filesystem::absolute(flags.write.empty() ? defaultFile() : flags.write);
  Cluster cluster(flags.cluster);
  const auto answer = orBadInput([&]() {
    return cluster.ask([&life](Session& session) {
      auto request = session.user.addTokenRequest();
      request.setLife(static_cast<uint64_t>(life->count()));
      return request.send();
    });
  });
  writeToken(file, convert::text(answer.getToken()));
  const WallTime until = wallTime(answer.getUntil());
  const std::string user = cluster.client().caller()->user;
  if (flags.json) {
    printJson({{"user", user}, {"file", file}, {"until", jsonTime(until)}});
  } else {
    print(aligned({{"User", user}, {"Until", formatTime(until)}, {"Token", "in " + file}}));
  }
  return kExitDone;
}

}  // namespace

void addLogin(CLI::App& app) {
  addCommand(app, "login",
             {"login [OPTIONS]", "Get a token that expires, for use elsewhere.",
              "Whoever the cluster lets in, by their user id on this machine or by a token that still holds, "
              "gets another "
              "token, in a file that only they can read: for --token-file or TARCIL_TOKEN_FILE, also on "
              "another machine. "
              "One that is there is replaced. `tarcil token list` shows those that are out, and `tarcil "
              "token revoke` "
              "takes them back.",
              "  tarcil login --ttl 8h\n  tarcil login --write /tmp/me.token\n",
              "  0  done\n  1  you have too many\n  2  bad arguments, or a file that cannot be written\n  3  "
              "no cluster, or "
              "not let in\n"},
             [](CLI::App& command) {
               auto flags = std::make_shared<LoginFlags>();
               command.add_option("--ttl", flags->life, "How long it lets in, 1s to 90d. Default: 8h")
                   ->type_name("DURATION");
               command
                   .add_option("--write", flags->write,
                               "The file. Default: tarcil/token below XDG_CONFIG_HOME or ~/.config")
                   ->type_name("FILE");
               addJsonFlag(command, flags->json);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return login(*flags); });
             });
}

}  // namespace tarcil
