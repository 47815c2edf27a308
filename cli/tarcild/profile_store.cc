// tarcil profile list, show, import, export, delete: the profiles that a cluster keeps.
#include <fstream>
#include <iostream>

#include "cli/cluster.h"
#include "cli/output/output.h"
#include "cli/output/profile_yaml.h"
#include "cli/output/table.h"
#include "cli/stored_profiles.h"
#include "cli/tarcild/commands.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "formats/profile_file.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct StoreFlags {
  ContextFlags cluster;
  bool json = false;
  std::string application, user, file, note;
};

KnownProfile require(Cluster& cluster, const StoreFlags& flags) {
  KnownProfile found = findProfile(cluster, flags.application, flags.user);
  if (!found.stored && !found.observed) {
    throw Failure{kExitFailed, "no profile is stored under " + shown(flags.application) +
                                   "; `tarcil profile list` shows those that are"};
  }
  return found;
}

void show(const KnownProfile& known, bool json) {
  if (json) {
    printJson(jsonOf(known));
  } else {
    print(textOf(known));
  }
}

int list(const StoreFlags& flags) {
  Cluster cluster(flags.cluster);
  const KeptProfiles kept = keptProfiles(cluster);
  if (flags.json) {
    printJson(jsonOf(kept));
  } else {
    print(textOf(kept));
    if (kept.stored.empty()) say("no profile is stored; `tarcil profile import FILE` stores one");
  }
  return kExitDone;
}

int showOne(const StoreFlags& flags) {
  Cluster cluster(flags.cluster);
  show(require(cluster, flags), flags.json);
  return kExitDone;
}

int importFile(const StoreFlags& flags) {
  Profile profile = requireInput(readProfile(flags.file));
  if (!flags.application.empty()) profile.application = flags.application;
  if (profile.application.empty()) {
    throw badInput(flags.file + ": application: is missing; write it, or give --application NAME");
  }
  Cluster cluster(flags.cluster);
  cluster.ask([&](Session& session) {
    auto request = session.user.storeProfileRequest();
    write(profile, request.initProfile());
    request.setNote(flags.note.c_str());
    return request.send();
  });
  show(findProfile(cluster, profile.application), flags.json);
  return kExitDone;
}

int exportFile(const StoreFlags& flags) {
  Cluster cluster(flags.cluster);
  const KnownProfile known = require(cluster, flags);
  if (!known.hasProfile()) {
    throw Failure{kExitFailed, flags.application + ": too few runs were observed to say what it causes: " +
                                   std::to_string(known.observed->runs()) + " of " +
                                   std::to_string(kRunsToBelieve)};
  }
  const std::string text = yamlOf(known.profile());
  if (flags.file.empty()) {
    print(text);
    return kExitDone;
  }
  std::ofstream file(flags.file);
  file << text << std::flush;
  if (!file) throw Failure{kExitFailed, flags.file + ": cannot be written"};
  return kExitDone;
}

int erase(const StoreFlags& flags) {
  Cluster cluster(flags.cluster);
  cluster.ask([&flags](Session& session) {
    auto request = session.user.deleteProfileRequest();
    request.setApplication(flags.application.c_str());
    request.setUser(flags.user.c_str());
    return request.send();
  });
  if (flags.json) {
    printJson({{"application", flags.application}, {"deleted", true}});
  } else {
    print(aligned({{"Deleted", flags.application}}));
  }
  return kExitDone;
}

int promote(const StoreFlags& flags) {
  Cluster cluster(flags.cluster);
  cluster.ask([&flags](Session& session) {
    auto request = session.user.promoteProfileRequest();
    request.setApplication(flags.application.c_str());
    request.setUser(flags.user.c_str());
    return request.send();
  });
  show(findProfile(cluster, flags.application), flags.json);
  return kExitDone;
}

using Act = int (*)(const StoreFlags&);

using AddOptions = void (*)(CLI::App& command, StoreFlags& flags);

void addStoreCommand(CLI::App& group, const char* name, const Help& help, Act act, AddOptions addOptions) {
  addCommand(group, name, help, [act, addOptions](CLI::App& command) {
    auto flags = std::make_shared<StoreFlags>();
    addJsonFlag(command, flags->json);
    addClusterFlags(command, flags->cluster);
    addOptions(command, *flags);
    onRun(command, [flags, act]() { return act(*flags); });
  });
}

void addNoOptions(CLI::App&, StoreFlags&) {}

void addApplication(CLI::App& command, StoreFlags& flags) {
  command.add_option("APPLICATION", flags.application, "NAME, or NAME@VERSION.")->required();
}

void addApplicationOfUser(CLI::App& command, StoreFlags& flags) {
  addApplication(command, flags);
  command
      .add_option("--user", flags.user,
                  "What is known for this user's jobs; another's than yours is for operators.")
      ->type_name("NAME");
}

void addExportOptions(CLI::App& command, StoreFlags& flags) {
  addApplicationOfUser(command, flags);
  command.add_option("--output", flags.file, "Write it to this file. Default: stdout")->type_name("FILE");
}

void addImportOptions(CLI::App& command, StoreFlags& flags) {
  command.add_option("FILE", flags.file, "The profile (YAML or JSON).")->required();
  command.add_option("--application", flags.application, "Keep it under this name.")->type_name("NAME");
  command.add_option("--note", flags.note, "Where it comes from, for people.")->type_name("TEXT");
}

}  // namespace

void addProfileStore(CLI::App& group) {
  addStoreCommand(
      group, "list",
      {"profile list [OPTIONS]", "List the profiles that the cluster stores.",
       "A job file that says `application: NAME` and has no profile of its own gets the one that is stored "
       "under this name. Below them are applications that the cluster measures by itself (`tarcil tune "
       "--profile-unknown`): those being measured, and those whose measurement failed, with the reason.",
       "  tarcil profile list\n  tarcil profile list --json\n", ""},
      &list, addNoOptions);
  addStoreCommand(
      group, "show",
      {"profile show [OPTIONS] APPLICATION", "Show a profile that the cluster keeps.",
       "As your jobs get it that name the application: as you stored it, else as it is stored for all, and "
       "what it causes as "
       "monitors measured it in your own runs, from the third on (`observed`, with how far runs "
       "differ). For NAME@VERSION, if none of that version is stored, the one of NAME.",
       "  tarcil profile show sort\n  tarcil profile show sort@9.1\n"
       "  tarcil profile show --user alice sort\n",
       ""},
      &showOne, addApplicationOfUser);
  addStoreCommand(
      group, "promote",
      {"profile promote [OPTIONS] APPLICATION", "Let what is known for one user count for all.",
       "The profile that a user stored, and what monitors measured in that user's runs of the "
       "application, count for that user's jobs only, until an operator promotes them: they become "
       "the profile that is stored for all, or part of it. Without --user it is your own. Users "
       "who are no operators make what was measured in their runs part of their own profile.",
       "  tarcil profile promote sort\n  tarcil profile promote --user alice sort\n", ""},
      &promote, addApplicationOfUser);
  addStoreCommand(
      group, "export",
      {"profile export [OPTIONS] APPLICATION", "Write a profile that the cluster stores to a file.",
       "As `tarcil submit --profile` and `tarcil profile import` take it.",
       "  tarcil profile export sort > sort.yaml\n  tarcil profile export --output sort.yaml sort\n", ""},
      &exportFile, addExportOptions);
  addStoreCommand(
      group, "delete",
      {"profile delete [OPTIONS] APPLICATION", "Take a profile away.",
       "Jobs that were submitted with it keep it. Your own goes first, with what was observed in your runs; "
       "where there is none, an operator deletes the one for all. --user takes another user's own away.",
       "  tarcil profile delete sort@9.1\n  tarcil profile delete --user alice sort\n", ""},
      &erase, addApplicationOfUser);
  addStoreCommand(
      group, "import",
      {"profile import [OPTIONS] FILE", "Have the cluster keep a profile.",
       "It is stored under the name that the file has in `application`: NAME, or NAME@VERSION for one "
       "version of it. From then on jobs that say `application: NAME` need no profile of their own: "
       "everybody's "
       "where an operator imports it, otherwise yours, until an operator promotes it. One that is there is "
       "replaced.",
       "  tarcil profile run --application sort --output sort.yaml -- sort -n numbers.txt\n"
       "  tarcil profile import sort.yaml\n"
       "  tarcil profile import --application sort@9.1 --note 'measured on haswell' sort.yaml\n",
       ""},
      &importFile, addImportOptions);
}

}  // namespace tarcil
