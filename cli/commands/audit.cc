// tarcil audit: who changed what, and whether the log of it is whole.
#include "audit/verifier.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "audit/log_files.h"
#include "cli/command.h"
#include "cli/commands/commands.h"
#include "cli/operator_port.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/people.h"
#include "cli/user_clock.h"
#include "core/base/failure.h"
#include "core/base/hex.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// Until a log that is followed is looked at again.
constexpr useconds_t kFollowPause = 1'000'000;

struct AuditFlags {
  ContextFlags cluster;
  std::string since, until, user, action, head;
  std::vector<std::string> folders;
  bool verify = false, follow = false, json = false;
};

WallTime timeOf(const char* flag, const std::string& text) {
  if (text.empty()) return kNever;
  const auto time = parsePointInTime(text, userClock(), Looking::kBack);
  if (!time) throw badInput(std::string(flag) + ": " + time.error().message);
  return *time;
}

// A page of the master's log, and the last entry of it.
struct Told {
  audit::Page page;
  audit::Link head;
};

Told ask(OperatorPort& master, const audit::Position& from, const audit::Filter& filter) {
  const auto answer = orBadInput([&]() {
    return master.ask([&](wire::UserPort::Client& port) {
      auto request = port.auditRequest();
      request.setFile(from.file);
      request.setOffset(from.offset);
      request.setSince(toWire(filter.since));
      request.setUntil(toWire(filter.until));
      request.setUser(convert::text(filter.user));
      request.setAction(convert::text(filter.action));
      return request.send();
    });
  });
  Told told;
  told.page.file = answer.getFile();
  told.page.next = {answer.getNextFile(), answer.getNextOffset()};
  told.page.more = answer.getMore();
  for (const auto line : answer.getLines()) {
    const auto chars = line.asChars();
    told.page.lines.emplace_back(chars.begin(), chars.size());
  }
  told.head.sequence = answer.getHead();
  const auto hash = answer.getHash();
  if (hash.size() == told.head.hash.size()) std::copy(hash.begin(), hash.end(), told.head.hash.begin());
  return told;
}

// --- What is in it ----------------------------------------------------------------------------------------

// Names in it are what anybody may have chosen.
std::string readable(const std::string& text) {
  return isPrintable(text) ? text : shown(text);
}

std::string padded(std::string text, size_t width) {
  const size_t length = characters(text);
  return length < width ? text.append(width - length, ' ') : text;
}

std::string textOf(const std::string& line) {
  const auto fields = audit::fieldsOf(line);
  if (!fields) return "a line that cannot be read; see: tarcil audit --verify\n";
  const audit::Entry& entry = fields->entry;
  const audit::Requester& by = entry.by;
  std::string text = padded(readable(fields->time), 27) + "  " +
                     padded(by.user.empty() ? "-" : readable(by.user), 12) + "  " +
                     padded(readable(entry.action), 16) + "  " + padded(readable(entry.outcome), 9) + "  " +
                     readable(entry.object);
  if (!entry.detail.empty()) text += ", " + readable(entry.detail);
  if (entry.count != 1) text += ", " + std::to_string(entry.count) + " times";
  std::string how = readable(by.knownBy);
  if (!by.agent.empty()) how += " at agent " + readable(by.agent);
  if (!by.address.empty()) how += " from " + readable(by.address);
  return text + (how.empty() ? "" : "  (" + how + ")") + "\n";
}

int show(const AuditFlags& flags) {
  const audit::Filter filter{timeOf("--since", flags.since), timeOf("--until", flags.until), flags.user,
                             flags.action};
  OperatorPort master(flags.cluster);
  audit::Position from;
  Json all = Json::array();
  size_t count = 0;
  while (true) {
    const Told told = ask(master, from, filter);
    for (const std::string& line : told.page.lines) {
      ++count;
      if (!flags.json) {
        print(textOf(line));
      } else if (flags.follow) {
        print(line + "\n");
      } else {
        all.push_back(Json::parse(line, nullptr, false));
      }
    }
    from = told.page.next;
    if (told.page.more) continue;
    if (!flags.follow) break;
    flushOutput();
    ::usleep(kFollowPause);
  }
  if (flags.json) {
    printJson(all);
  } else if (count == 0) {
    say("nothing like that is in the audit log");
  }
  return kExitDone;
}

// --- Whether it is whole ----------------------------------------------------------------------------------

std::optional<audit::Link> headOf(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const size_t colon = text.find(':');
  audit::Link head;
  bool isHead = colon != std::string::npos && colon > 0 && colon < 20 &&
                text.find_first_not_of("0123456789") == colon &&
                readHex(std::string_view(text).substr(colon + 1), head.hash);
  if (isHead) head.sequence = std::stoull(text.substr(0, colon));
  if (!isHead || head.sequence == 0)
    throw badInput("--head: " + shown(text) +
                   " is no entry; write NUMBER:HASH as `tarcil audit --verify` says");
  return head;
}

// `ofGap`: what to say besides where entries are missing.
int report(const AuditFlags& flags, const audit::Verifier& verifier, const std::string& ofGap = "") {
  const audit::Link last = verifier.last();
  const auto& problem = verifier.problem();
  const std::string head =
      last.sequence == 0 ? "" : std::to_string(last.sequence) + ":" + hexOf(std::span(last.hash));
  if (flags.json) {
    Json json{{"whole", !problem},
              {"entries", verifier.entries()},
              {"first", verifier.entries() == 0 ? Json() : Json(verifier.first())},
              {"head", head.empty() ? Json() : Json(head)},
              {"notes", verifier.notes()},
              {"problem", Json()}};
    if (problem)
      json["problem"] = {{"file", problem->file}, {"line", problem->line}, {"what", problem->what}};
    printJson(json);
  } else if (!problem) {
    for (const std::string& note : verifier.notes()) say(note);
    print(aligned({{"Audit log", "whole"},
                   {"Entries", std::to_string(verifier.entries())},
                   {"First", std::to_string(verifier.first())},
                   {"Head", head}}));
  }
  if (!problem) return kExitDone;
  throw Failure(kExitFailed, problem->file + ":" + std::to_string(problem->line) + ": " + problem->what +
                                 (problem->isGap ? ofGap : ""));
}

template <typename T>
T orBad(Result<T> result) {
  if (!result) throw badInput(result.error().message);
  return std::move(*result);
}

// A file, and the number of its first entry, by which those of several masters are put in order.
struct Found {
  uint64_t first = 0;
  std::filesystem::path path;
};

std::vector<Found> filesIn(const std::vector<std::string>& folders) {
  std::vector<Found> all;
  for (const std::string& folder : folders) {
    const auto files = orBad(audit::filesOf(folder));
    if (files.empty()) throw badInput(folder + ": has no file of an audit log, such as 00000001.jsonl");
    for (const audit::LogFile& file : files) {
      Found& found = all.emplace_back(Found{0, file.path});
      const Status read = audit::eachLine(file.path, [&found](std::string_view line) {
        if (const auto place = audit::placeOf(line)) found.first = place->self.sequence;
        return false;
      });
      if (!read) throw badInput(read.error().message);
    }
  }
  // Of one master they are in the order of their names, whatever is in them.
  if (folders.size() > 1) std::ranges::stable_sort(all, {}, &Found::first);
  return all;
}

int verifyFolders(const AuditFlags& flags) {
  auto head = headOf(flags.head);
  audit::Verifier verifier;
  for (const Found& file : filesIn(flags.folders)) {
    verifier.beginFile(file.path.string());
    const Status read =
        audit::eachLine(file.path, [&verifier](std::string_view line) { return verifier.take(line); });
    if (!read) throw badInput(read.error().message);
    if (verifier.problem()) break;
  }
  for (const std::string& folder : flags.folders) {
    if (head) break;
    const auto here = orBad(audit::headIn(folder));
    if (here && (flags.folders.size() == 1 || here->sequence >= verifier.last().sequence)) head = here;
  }
  verifier.finish(head);
  return report(flags, verifier);
}

// All of it comes over the wire: what the master's machine says of its own files proves nothing.
int verifyMaster(const AuditFlags& flags) {
  OperatorPort master(flags.cluster);
  audit::Verifier verifier;
  std::optional<audit::Link> head = headOf(flags.head);
  audit::Position from;
  uint64_t file = 0;
  for (bool more = true; more && !verifier.problem();) {
    const Told told = ask(master, from, {});
    if (!head) head = told.head;
    if (told.page.file != file && !told.page.lines.empty()) {
      file = told.page.file;
      verifier.beginFile(audit::nameOfFile(file));
    }
    for (const std::string& line : told.page.lines) {
      if (!verifier.take(line)) break;
    }
    from = told.page.next;
    more = told.page.more;
  }
  verifier.finish(head);
  return report(flags, verifier,
                "; of several masters on machines of their own each has what it wrote while it led: verify "
                "the folders of all of them, `tarcil audit --verify FOLDER FOLDER FOLDER`");
}

int run(const AuditFlags& flags) {
  const bool filters =
      !flags.since.empty() || !flags.until.empty() || !flags.user.empty() || !flags.action.empty();
  if (flags.verify) {
    if (filters || flags.follow)
      throw badInput(
          "--verify: looks at the whole log; leave --since, --until, --user, --action, --follow out");
    return flags.folders.empty() ? verifyMaster(flags) : verifyFolders(flags);
  }
  if (!flags.folders.empty())
    throw badInput("FOLDER: goes with --verify; write `tarcil audit --verify FOLDER`");
  if (!flags.head.empty()) throw badInput("--head: goes with --verify");
  if (flags.follow && !flags.until.empty()) throw badInput("--until: does not go with --follow");
  return show(flags);
}

}  // namespace

void addAudit(CLI::App& app) {
  addCommand(
      app, "audit",
      {"audit [OPTIONS] [--verify [FOLDER...]]", "Show who changed what, or verify the log of it.",
       "The master writes an entry for everything that it changes on somebody's word, and for what it "
       "refuses: "
       "when, who, how that is known, from where, what, of which job, server or user, and the outcome: "
       "accepted, "
       "unchanged (there was nothing to do), or why it was refused. What is refused again and again has two "
       "entries a second at most, the second with how often. With --json as an array; with --json --follow "
       "one "
       "object a line.\n\n"
       "Each entry has the hash of the one before. --verify says whether all are there and as they were "
       "written: "
       "as the master tells them, which has the last one in its store, too; or, with FOLDER, in these files, "
       "without a cluster (DATA/master/audit, or copies; of masters that follow each other the folders of "
       "all). "
       "It names the first file and line that is wrong. It says what the last entry is: who notes that "
       "elsewhere and gives it as --head later knows that nothing up to there was made anew. Needs the role "
       "operate, but for files.",
       "  tarcil audit --since 1h\n"
       "  tarcil audit --user ann --action job\n"
       "  tarcil audit --verify\n"
       "  tarcil audit --verify /var/lib/tarcil/master/audit\n",
       "  0  done; whole\n  1  the log is not whole\n  2  bad arguments, or a folder that is none of a log\n"
       "  3  no cluster, or not allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<AuditFlags>();
        command.add_option("--since", flags->since, "From this time on, such as 2h, 6:00 or 2026-05-01.")
            ->type_name("TIME");
        command.add_option("--until", flags->until, "Before this time.")->type_name("TIME");
        command.add_option("--user", flags->user, "What this user did, or tried.")->type_name("NAME");
        command
            .add_option("--action", flags->action,
                        "This action, such as job.cancel, or all that begin so before the dot, such as job.")
            ->type_name("ACTION");
        command.add_flag("--follow", flags->follow, "Go on with what comes, until it is interrupted.");
        command.add_flag("--verify", flags->verify, "Say whether the log is whole.");
        command
            .add_option("--head", flags->head,
                        "With --verify: an entry that has to be in it, as an earlier --verify said.")
            ->type_name("NUMBER:HASH");
        command.add_option("FOLDER", flags->folders, "With --verify: folders of a log.");
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return run(*flags); });
      });
}

}  // namespace tarcil
