#include "gateway/server/replays.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "cli/output/render.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/decide/options.h"
#include "formats/recording_part.h"
#include "rpc/errors.h"

namespace tarcil::gateway {
namespace {

namespace fs = std::filesystem;

constexpr auto kBeforeTheNextStart = 5 * kj::SECONDS;
// What a run says of its outcome that is shown.
constexpr const char* kShown[] = {"jobs",        "unfinished", "utilisation", "response_ms",
                                  "performance", "quality",    "wait_ms",     "conflicts"};

// --- What is to be otherwise ---

Result<Json> readObject(const std::string& body) {
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && !json.empty()) return json;
  return invalid(R"(the body does not fit; write what is to be otherwise, such as {"target": 0.9})");
}

// Into the setting of its kind; false where the value is of another.
bool lay(const Json& value, double& setting) {
  if (value.is_number()) setting = value.get<double>();
  return value.is_number();
}
template <typename Whole>
bool layWhole(const Json& value, Whole& setting) {
  constexpr int64_t kMost = 1'000'000'000;
  if (!value.is_number_integer()) return false;
  setting = static_cast<Whole>(std::clamp<int64_t>(
      value.is_number_unsigned() ? static_cast<int64_t>(std::min<uint64_t>(value.get<uint64_t>(), kMost))
                                 : value.get<int64_t>(),
      0, kMost));
  return value.is_number_unsigned();
}

// One of these names, in the order of the enumeration.
template <typename Kind, size_t kKinds>
bool layWord(const Json& value, const std::array<std::string_view, kKinds>& names, Kind& setting) {
  const auto found = value.is_string() ? std::ranges::find(names, value.get<std::string>()) : names.end();
  if (found != names.end()) setting = static_cast<Kind>(found - names.begin());
  return found != names.end();
}

bool layNamed(const std::string& name, const Json& value, QualitySettings& settings) {
  if (name == "target") return lay(value, settings.target);
  if (name == "rarity") return lay(value, settings.rarity);
  if (name == "confidence") return lay(value, settings.confidence);
  if (name == "floor") return layWhole(value, settings.floor);
  if (name == "margin") return layWhole(value, settings.margin);
  if (name == "contention") return layWord(value, kContentionModelNames, settings.contention);
  if (name == "ranking") return layWord(value, kRankByNames, settings.ranking);
  if (name == "cap") return layWhole(value, settings.cap.emplace());
  return layWhole(value, settings.ratio.emplace());
}

constexpr const char* kNames[] = {"target", "rarity", "confidence", "cap",    "floor",
                                  "ratio",  "margin", "contention", "ranking"};

std::string whatFits(const std::string& name) {
  if (name == "contention") return "one of " + joined(kContentionModelNames);
  return name == "ranking" ? "one of " + joined(kRankByNames) : "a number";
}

// As flags of `tarcil sim`.
Result<std::vector<std::string>> flagsOf(const Json& json) {
  QualitySettings settings;
  std::vector<std::string> flags;
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(kNames, name) == std::end(kNames))
      return invalid(shown(name) + " is no setting that can be replayed; write one of " + joined(kNames));
    if (!layNamed(name, value, settings))
      return invalid(name + ": is " + shown(value.dump(-1, ' ', true, Json::error_handler_t::replace)) +
                     "; write " + whatFits(name));
    flags.push_back("--" + name);
    flags.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  const auto wrong = problems(settings);
  if (!wrong.empty()) return invalid(wrong.front());
  return flags;
}

std::string thisProgram() {
  return fs::read_symlink("/proc/self/exe");
}

WallTime writtenAt(const struct stat& status) {
  return WallTime(std::chrono::seconds(status.st_mtim.tv_sec));
}

}  // namespace

Replays::Replays(Net net, kj::UnixEventPort& port, const Clock& clock, ReplayOptions options,
                 std::function<void(const Json&, const std::string&)> changed)
    : net_(net),
      port_(port),
      clock_(clock),
      options_(std::move(options)),
      changed_(std::move(changed)),
      program_(thisProgram()) {}

Replays::~Replays() noexcept(false) = default;

kj::Promise<void> Replays::record() {
  if (options_.folder.empty()) return kj::READY_NOW;
  auto lastWords = std::make_shared<std::string>();
  auto recorder = kj::heap<ChildProcess>(net_.io, port_, ChildCommand{program_, options_.recorder},
                                         [lastWords](const std::string& line) { *lastWords = line; });
  auto ended = recorder->ended();
  return ended.attach(kj::mv(recorder))
      .then([this, lastWords](ChildEnd&& end) {
        spdlog::warn("the recorder {}, and is started again: {}", end.how, *lastWords);
        return net_.timer.afterDelay(kBeforeTheNextStart);
      })
      .then([this]() { return record(); });
}

Status Replays::begin(const std::string& user, const std::string& body) {
  if (options_.folder.empty())
    return Error{
        ErrorCode::kConflict,
        "this gateway keeps no recording; start it with --recordings FOLDER, or use `tarcil record` and "
        "`tarcil sim --replay`"};
  const auto json = readObject(body);
  if (!json) return json.error();
  auto flags = flagsOf(*json);
  if (!flags) return flags.error();
  if (replay_ && replay_->state == "running")
    return Error{ErrorCode::kConflict,
                 "a replay runs already, that of " + replay_->user + "; wait for its end, or cancel it"};
  if (recordingJson().is_null())
    return Error{ErrorCode::kConflict,
                 "nothing is recorded yet; the recorder has only just begun, try again"};
  Replay replay;
  replay.user = user;
  replay.began = clock_.now().wall;
  replay.settings = *json;
  replay.flags = std::move(*flags);
  replay_ = std::move(replay);
  limit_ =
      net_.timer.afterDelay(options_.time.count() * kj::MICROSECONDS)
          .then([this]() {
            kill("took longer than " + formatDuration(options_.time) +
                 ", which --replay-time allows; the commands on the settings page take as long as it needs");
          })
          .eagerlyEvaluate(nullptr);
  running_ = runBoth().eagerlyEvaluate(
      [this](kj::Exception&& exception) { conclude("failed", fromException(exception).message); });
  tell();
  return {};
}

Status Replays::cancel() {
  if (!replay_ || replay_->state != "running") return Error{ErrorCode::kConflict, "no replay runs"};
  kill("cancelled");
  return {};
}

void Replays::kill(const std::string& why) {
  replay_->whyKilled = why;
  KJ_IF_MAYBE (child, child_) {
    (*child)->kill();
  }
}

kj::Promise<void> Replays::runBoth() {
  return run("as_it_is", {}).then([this]() { return run("changed", replay_->flags); }).then([this]() {
    conclude("done", "");
  });
}

kj::Promise<void> Replays::run(const char* name, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"sim", "--replay", options_.folder, "--policy", "quality", "--json"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  if (!replay_->whyKilled.empty()) return toException({ErrorCode::kInternal, replay_->whyKilled});
  replay_->lastWords.clear();
  replay_->progress = name;
  auto child = kj::heap<ChildProcess>(net_.io, port_,
                                      ChildCommand{program_, std::move(arguments), options_.memoryBytes},
                                      [this, name](const std::string& line) {
                                        replay_->lastWords = line;
                                        replay_->progress = std::string(name) + ": " + line;
                                        tell();
                                      });
  auto ended = child->ended();
  child_ = kj::mv(child);
  return ended.then([this, name](ChildEnd&& end) {
    child_ = nullptr;
    take(name, end);
  });
}

// Throws where it did not go well.
void Replays::take(const char* name, const ChildEnd& end) {
  const auto failed = [](const std::string& why) { return toException({ErrorCode::kInternal, why}); };
  if (!replay_->whyKilled.empty()) kj::throwFatalException(failed(replay_->whyKilled));
  if (!end.isGood) {
    kj::throwFatalException(
        failed("the replay " + end.how + (replay_->lastWords.empty() ? "" : ": " + replay_->lastWords)));
  }
  const Json runs = Json::parse(end.output, nullptr, /*allow_exceptions=*/false);
  if (!runs.is_array() || runs.size() != 2) kj::throwFatalException(failed("the replay gave no result"));
  const auto shown = [](const Json& run) {
    Json outcome = Json::object();
    for (const char* key : kShown) outcome[key] = run.contains(key) ? run.at(key) : Json();
    return outcome;
  };
  replay_->result["recorded"] = shown(runs.at(0));
  replay_->result[name] = shown(runs.at(1));
}

void Replays::conclude(const std::string& state, const std::string& problem) {
  limit_ = kj::READY_NOW;
  replay_->state = problem == "cancelled" ? "cancelled" : state;
  replay_->problem = problem;
  replay_->ended = clock_.now().wall;
  tell();
}

void Replays::tell() {
  changed_(jsonOf(*replay_), replay_->user);
}

Json Replays::jsonOf(const Replay& replay) const {
  const bool isDone = replay.state == "done";
  return {{"state", replay.state},
          {"user", replay.user},
          {"began", jsonTime(replay.began)},
          {"ended", jsonTime(replay.ended)},
          {"settings", replay.settings},
          {"progress", replay.progress},
          {"problem", replay.problem.empty() ? Json() : Json(replay.problem)},
          {"result", isDone ? replay.result : Json()}};
}

// Null where there is none.
Json Replays::recordingJson() const {
  WallTime until = kNever;
  uint64_t bytes = 0;
  std::string first;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(options_.folder, problem)) {
    const std::string name = entry.path().filename();
    struct stat status {};
    if (!name.ends_with(kRecordingEnding) || ::stat(entry.path().c_str(), &status) != 0) continue;
    if (first.empty() || name < first) first = name;
    bytes += static_cast<uint64_t>(status.st_size);
    until = std::max(until, writtenAt(status));
  }
  if (bytes == 0) return {};
  return {{"from", jsonTime(beginOfPart(first))}, {"until", jsonTime(until)}, {"bytes", bytes}};
}

Json Replays::json() const {
  return {{"recording", options_.folder.empty() ? Json() : recordingJson()},
          {"replay", replay_ ? jsonOf(*replay_) : Json()}};
}

}  // namespace tarcil::gateway
