// tarcil version.
#include "core/base/version.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "core/base/failure.h"

namespace tarcil {

void addVersion(CLI::App& app) {
  addCommand(app, "version",
             {"version [OPTIONS]", "Show the version.", "Shows the version of this program.",
              "  tarcil version --json\n", "  0  done\n  2  bad arguments\n"},
             [](CLI::App& command) {
               auto json = std::make_shared<bool>(false);
               addJsonFlag(command, *json);
               onRun(command, [json]() {
                 if (*json) {
                   printJson({{"version", version()}});
                 } else {
                   print(aligned({{"Version", version()}}));
                 }
                 return kExitDone;
               });
             });
}

}  // namespace tarcil
