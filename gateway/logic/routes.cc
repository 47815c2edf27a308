#include "gateway/logic/routes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/text.h"

namespace tarcil::gateway {
namespace {

using Kind = Parameter::Kind;

constexpr size_t kMaxArgument = 16 << 10;
constexpr size_t kMaxQueryArguments = 32;

Parameter path(const char* name, const char* help) {
  return {.name = name, .kind = Kind::kText, .help = help, .isInPath = true};
}
Parameter text(const char* name, const char* help, const char* otherwise = "") {
  return {.name = name, .kind = Kind::kText, .help = help, .otherwise = otherwise};
}
Parameter whole(const char* name, int64_t least, int64_t most, const char* otherwise, const char* help) {
  return {
      .name = name, .kind = Kind::kWhole, .help = help, .otherwise = otherwise, .least = least, .most = most};
}
Parameter flag(const char* name, const char* help) {
  return {.name = name, .kind = Kind::kFlag, .help = help, .otherwise = "false"};
}
Parameter word(const char* name, std::vector<std::string_view> words, const char* otherwise,
               const char* help) {
  return {.name = name, .kind = Kind::kWord, .help = help, .otherwise = otherwise, .words = std::move(words)};
}

const Parameter kJob = path("job", "Number or id of a job.");
const Parameter kServer = path("name", "Name of a server.");

Route get(Operation operation, const char* path, const char* summary, const char* answer,
          std::vector<Parameter> parameters = {}) {
  return {.operation = operation,
          .method = Method::kGet,
          .path = path,
          .summary = summary,
          .answer = answer,
          .parameters = std::move(parameters)};
}
Route post(Operation operation, const char* path, const char* summary, const char* answer,
           Body body = Body::kNone, std::vector<Parameter> parameters = {}) {
  return {.operation = operation,
          .method = Method::kPost,
          .path = path,
          .summary = summary,
          .answering = Answering::kDone,
          .answer = answer,
          .body = body,
          .parameters = std::move(parameters)};
}
Route here(Route route, Access access) {
  route.access = access;
  route.answering = Answering::kHere;
  return route;
}
Route streamed(Route route) {
  route.answering = Answering::kStreamed;
  return route;
}

std::vector<Route> makeRoutes() {
  const Parameter limit = whole("limit", 1, 1'000, "100", "How many at most.");
  return {
      get(Operation::kStatus, "/api/v1/status", "The cluster and the user's jobs at a glance.", "Status"),
      get(Operation::kJobs, "/api/v1/jobs", "Jobs, newest first.", "Jobs",
          {text("state", "In one of these states, with commas between them."),
           text("user", "Submitted by this user."), text("name", "With this part in the name."),
           text("since", "Submitted since then, as tarcil job list reads it."), limit,
           text("after", "A job: only those that were submitted before it.")}),
      get(Operation::kJob, "/api/v1/jobs/{job}", "A job and some of its tasks.", "Job",
          {kJob, whole("first", 0, 1'000'000, "0", "The first task."),
           whole("limit", 1, 2'000, "500", "How many tasks at most.")}),
      get(Operation::kExplain, "/api/v1/jobs/{job}/explain",
          "Why its tasks are where they are, or why it waits.", "Explanation", {kJob}),
      streamed(get(Operation::kLogs, "/api/v1/jobs/{job}/logs", "What a task wrote.", "Log",
                   {kJob, whole("task", 0, 1'000'000, "0", "The task."),
                    word("stream", {"stdout", "stderr"}, "stdout", "Which of the two."),
                    whole("offset", 0, INT64_MAX, "0", "From which byte on."),
                    flag("follow", "Whether to go on until the task has ended, as server-sent events.")})),
      get(Operation::kFiles, "/api/v1/jobs/{job}/files", "Files that are kept of its tasks.", "Files",
          {kJob, whole("first", 0, 1'000'000, "0", "The first task."),
           whole("limit", 1, 100, "20", "How many tasks at most.")}),
      streamed(get(
          Operation::kFile, "/api/v1/jobs/{job}/file", "Some bytes of a file that is kept.", "File",
          {kJob, whole("task", 0, 1'000'000, "0", "The task."), text("path", "As the list of files has it."),
           whole("attempt", 0, INT64_MAX, "0", "As the list of files has it."),
           whole("offset", 0, INT64_MAX, "0", "From which byte on.")})),
      here(get(Operation::kPerformance, "/api/v1/jobs/{job}/performance",
               "How its tasks performed, as far as the gateway was told.", "Performance", {kJob}),
           Access::kUser),
      get(Operation::kServers, "/api/v1/servers", "All servers.", "Servers"),
      get(Operation::kServer, "/api/v1/servers/{name}", "A server, its tasks, and who disturbs whom there.",
          "Server", {kServer}),
      get(Operation::kQueue, "/api/v1/queue", "What waits, in order, and why.", "Queue", {limit}),
      get(Operation::kUsers, "/api/v1/users", "What users have used.", "Users"),
      get(Operation::kProfiles, "/api/v1/profiles", "The profiles that are kept.", "Profiles"),
      get(Operation::kProfile, "/api/v1/profiles/{name}", "A profile, with where each number comes from.",
          "Profile", {path("name", "Name of an application.")}),
      get(Operation::kSettings, "/api/v1/settings", "How slots are sampled and judged.", "Settings"),
      get(Operation::kSampleTable, "/api/v1/settings/table", "How many slots must be drawn.", "SampleTable",
          {text("p", "Shares of acceptable slots, with commas between them.", "0.01,0.05,0.1,0.2,0.5"),
           text("tasks", "Numbers of tasks, with commas between them.", "1,8,100"),
           {.name = "confidence",
            .kind = Kind::kNumber,
            .help = "Probability that enough are found.",
            .otherwise = "0.999"}}),
      get(Operation::kViolations, "/api/v1/violations", "Tasks that perform below what is expected of them.",
          "Violations"),
      here(get(Operation::kSummaries, "/api/v1/summaries",
               "Jobs by number or id, from the gateway's own copy.", "Jobs",
               {text("jobs", "Numbers or ids of jobs, with commas between them, at most 500.")}),
           Access::kUser),
      get(Operation::kContention, "/api/v1/contention", "Servers by resources, by least slack.", "Contention",
          {word("by", {"server", "platform", "rack", "bucket"}, "server", "What a row is."),
           text("platform", "Of this platform only."), text("rack", "Of this rack only."),
           text("bucket", "Of this bucket of like servers only, by its number."),
           whole("limit", 1, 2'000, "500", "How many rows at most."),
           text("after", "The name of a row: those behind it.")}),
      get(Operation::kInterference, "/api/v1/interference",
          "Applications by applications: who slows whom down.", "Interference",
          {whole("limit", 1, 200, "50", "How many applications at most.")}),
      get(Operation::kSharing, "/api/v1/sharing", "What sharing servers is worth, and what it costs.",
          "Sharing"),
      streamed(get(Operation::kEvents, "/api/v1/events", "What changes, as server-sent events.", "Events")),
      here(get(Operation::kOpenApi, "/api/v1/openapi.json", "This description.", "OpenApi"), Access::kAnyone),
      here(get(Operation::kReplay, "/api/v1/replay",
               "What the last day would have been under other settings; for operators.", "Replay"),
           Access::kUser),
      here(post(Operation::kBeginReplay, "/api/v1/replay",
                "Replay the last day with settings that are otherwise.", "Replay", Body::kJson),
           Access::kUser),
      here(post(Operation::kCancelReplay, "/api/v1/replay/cancel", "End the replay that runs.", "Replay"),
           Access::kUser),
      post(Operation::kSubmit, "/api/v1/jobs", "Hand a job file to the cluster.", "Submitted", Body::kJobFile,
           {flag("hold", "Whether it is held until it is released.")}),
      post(Operation::kPlan, "/api/v1/plan", "What would become of a job file.", "Plan", Body::kJobFile,
           {text("seed", "Draw as the decision with this seed did.")}),
      post(Operation::kCancel, "/api/v1/jobs/{job}/cancel", "Cancel a job.", "Cancelled", Body::kNone,
           {kJob}),
      post(Operation::kHold, "/api/v1/jobs/{job}/hold", "Let no further task of it start.", "Steered",
           Body::kNone, {kJob}),
      post(Operation::kRelease, "/api/v1/jobs/{job}/release", "Let its tasks start again.", "Steered",
           Body::kNone, {kJob}),
      post(Operation::kRerun, "/api/v1/jobs/{job}/rerun", "Run the tasks again that did not end well.",
           "Steered", Body::kNone, {kJob}),
      post(Operation::kPriority, "/api/v1/jobs/{job}/priority", "Give it another priority.", "Steered",
           Body::kJson, {kJob}),
      post(Operation::kCordon, "/api/v1/servers/{name}/cordon", "Keep new tasks away.", "SteeredServers",
           Body::kNone, {kServer}),
      post(Operation::kUncordon, "/api/v1/servers/{name}/uncordon", "Let it have new tasks again.",
           "SteeredServers", Body::kNone, {kServer}),
      post(Operation::kDrain, "/api/v1/servers/{name}/drain", "Send its tasks elsewhere.", "SteeredServers",
           Body::kOptionalJson, {kServer}),
      here(post(Operation::kWord, "/api/v1/word", "A word to sign a browser in with, once.", "Word"),
           Access::kToken),
      here(post(Operation::kSignIn, "/api/v1/session", "Sign in with a word.", "Session", Body::kJson),
           Access::kAnyone),
      here(get(Operation::kSession, "/api/v1/session", "Who is asking.", "Session"), Access::kUser),
      here(post(Operation::kSignOut, "/api/v1/session/end", "End the session.", "Nothing"), Access::kUser),
  };
}

std::vector<std::string_view> partsOf(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    const size_t end = std::min(text.find(between, start), text.size());
    parts.push_back(text.substr(start, end - start));
    if (end == text.size()) return parts;
    start = end + 1;
  }
}

std::optional<int> hexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return std::nullopt;
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// What to write in place of the value; empty where it is right.
std::string remedyFor(const Parameter& parameter, const std::string& value) {
  const char* end = value.data() + value.size();
  switch (parameter.kind) {
    case Kind::kText:
      return value.empty() ? "write something, or leave it out" : "";
    case Kind::kFlag:
      return value == "true" || value == "false" ? "" : "write true or false";
    case Kind::kWhole: {
      int64_t number = 0;
      const auto read = std::from_chars(value.data(), end, number);
      const bool isGood =
          read.ec == std::errc() && read.ptr == end && number >= parameter.least && number <= parameter.most;
      return isGood ? ""
                    : "write a whole number from " + std::to_string(parameter.least) + " to " +
                          std::to_string(parameter.most);
    }
    case Kind::kNumber: {
      double number = 0;
      const auto read = std::from_chars(value.data(), end, number);
      return read.ec == std::errc() && read.ptr == end && std::isfinite(number)
                 ? ""
                 : "write a number, such as 0.95";
    }
    case Kind::kWord: {
      if (std::ranges::find(parameter.words, value) != parameter.words.end()) return "";
      std::string words;
      for (const std::string_view word : parameter.words)
        words.append(words.empty() ? "" : ", ").append(word);
      return "write one of " + words;
    }
  }
  return "";
}

Status take(const Parameter& parameter, std::string value, Arguments& arguments) {
  if (value.size() > kMaxArgument)
    return invalid(std::string(parameter.name) + ": is longer than " + std::to_string(kMaxArgument) +
                   " bytes; write less");
  if (const std::string remedy = remedyFor(parameter, value); !remedy.empty())
    return invalid(std::string(parameter.name) + ": " + shown(value) + " does not fit; " + remedy);
  arguments.set(parameter.name, std::move(value));
  return {};
}

// Whether the path is one of this route; its arguments then.
Result<bool> takePath(const Route& route, std::string_view path, Arguments& arguments) {
  const auto wanted = partsOf(route.path, '/'), given = partsOf(path, '/');
  if (wanted.size() != given.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool isArgument = wanted[i].starts_with('{');
    if (!isArgument && wanted[i] != given[i]) return false;
    if (isArgument && given[i].empty()) return false;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].starts_with('{')) continue;
    const std::string_view name = wanted[i].substr(1, wanted[i].size() - 2);
    const auto parameter = std::ranges::find_if(
        route.parameters, [name](const Parameter& one) { return one.isInPath && one.name == name; });
    auto value = unescaped(given[i], false);
    if (!value) return value.error();
    if (const Status taken = take(*parameter, std::move(*value), arguments); !taken) return taken.error();
  }
  return true;
}

Status takeQuery(const Route& route, std::string_view query, Arguments& arguments) {
  std::vector<std::string_view> seen;
  const auto parts = query.empty() ? std::vector<std::string_view>() : partsOf(query, '&');
  if (parts.size() > kMaxQueryArguments)
    return invalid("the query has more than " + std::to_string(kMaxQueryArguments) +
                   " parameters; leave some out");
  for (const std::string_view part : parts) {
    const size_t equals = std::min(part.find('='), part.size());
    auto name = unescaped(part.substr(0, equals), true);
    auto value = unescaped(equals == part.size() ? "" : part.substr(equals + 1), true);
    if (!name) return name.error();
    if (!value) return value.error();
    const auto parameter = std::ranges::find_if(
        route.parameters, [&name](const Parameter& one) { return !one.isInPath && *name == one.name; });
    if (parameter == route.parameters.end())
      return invalid(shown(*name) + " is no parameter of " + route.path + "; see /api/v1/openapi.json");
    if (std::ranges::find(seen, parameter->name) != seen.end())
      return invalid(std::string(parameter->name) + ": is there twice; write it once");
    seen.emplace_back(parameter->name);
    if (Status taken = take(*parameter, std::move(*value), arguments); !taken) return taken;
  }
  for (const Parameter& parameter : route.parameters) {
    if (!parameter.isInPath && *parameter.otherwise != '\0' && !arguments.has(parameter.name))
      arguments.set(parameter.name, parameter.otherwise);
  }
  return {};
}

}  // namespace

std::string_view name(Method method) {
  return method == Method::kGet ? "GET" : "POST";
}

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = makeRoutes();
  return kRoutes;
}

const std::string& Arguments::text(const std::string& name) const {
  static const std::string kNone;
  const auto found = values_.find(name);
  return found == values_.end() ? kNone : found->second;
}

Result<std::string> unescaped(std::string_view text, bool isQuery) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && isQuery) {
      plain += ' ';
    } else if (text[i] != '%') {
      plain += text[i];
    } else {
      const auto high = i + 2 < text.size() ? hexDigit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hexDigit(text[i + 2]) : std::nullopt;
      if (!high || !low)
        return invalid(
            "the address has a % without two hexadecimal digits behind it; write %25 for % itself");
      plain += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  if (plain.find('\0') != std::string::npos)
    return invalid("the address has a %00, which is in no name; leave it out");
  if (!isUtf8(plain)) return invalid("the address is no UTF-8; write it so");
  return plain;
}

Result<Matched> match(std::string_view method, std::string_view target) {
  const size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark);
  const std::string_view query = mark == target.size() ? "" : target.substr(mark + 1);
  OtherMethod others;
  for (const Route& route : routes()) {
    Question question{&route};
    const auto isIt = takePath(route, path, question.arguments);
    if (!isIt) return isIt.error();
    if (!*isIt) continue;
    // What is asked with HEAD is answered without its body.
    if (method != name(route.method) && !(method == "HEAD" && route.method == Method::kGet)) {
      others.methods.push_back(route.method);
      continue;
    }
    if (const Status taken = takeQuery(route, query, question.arguments); !taken) return taken.error();
    return Matched(std::move(question));
  }
  if (others.methods.empty()) return Matched(NoSuchPath{});
  return Matched(std::move(others));
}

}  // namespace tarcil::gateway
