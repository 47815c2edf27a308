// The program tarcild: all commands, those of the program tarcil too, for tasks that call
// `tarcil` (monitor/container/container_options.h).
#include "cli/command_line.h"
#include "cli/tarcild/commands.h"

namespace tarcil {
namespace {

VerbsOfTarcild verbs(const Words& userCommand) {
  return {{"up", addUp},
          {"down", addDown},
          {"init", addInit},
          {"join", addJoin},
          {"serve", addServe},
          {"master", addMaster},
          {"record", addRecord},
          {"profile", [&userCommand](CLI::App& app) { addProfile(app, userCommand); }},
          {"sim", addSim},
          {"options", addOptions},
          {"man", [](CLI::App& app) { addMan(app, verbs); }}};
}

}  // namespace
}  // namespace tarcil

int main(int argc, char** argv) {
  return tarcil::runCommandLine(argc, argv, tarcil::verbs);
}
