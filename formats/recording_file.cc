#include "formats/recording_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/job.h"
#include "core/state/claim.h"
#include "core/state/job_state.h"
#include "core/state/server.h"
#include "formats/json.h"
#include "formats/packed_file.h"
#include "formats/problems.h"
#include "formats/profile_file.h"
#include "formats/recording_part.h"

namespace tarcil {
namespace {

using sim::RecordedJob;
using sim::RecordedTask;
using sim::Recording;

constexpr size_t kMaxBytes = size_t{1} << 30;
constexpr size_t kMaxServers = 100'000, kMaxPlatforms = 1'000, kMaxTasksInAll = 50'000'000;

// One object of a line, and what is wrong with its fields.
class LineFields {
 public:
  LineFields(const Json& object, int line, Problems& problems)
      : object_(object), line_(line), problems_(problems) {}

  void problem(std::string_view field, const std::string& text) {
    problems_.add({line_, 1}, field, text);
    good_ = false;
  }
  // No problem so far.
  bool good() const { return good_; }

  bool isNull(const char* field) const {
    const auto found = object_.find(field);
    return found == object_.end() || found->is_null();
  }

  int64_t integer(const char* field, int64_t least, int64_t most) {
    const Json& value = at(field);
    const bool fits =
        value.is_number_integer() &&
        (!value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
    if (fits && value.get<int64_t>() >= least && value.get<int64_t>() <= most) return value.get<int64_t>();
    refuse(field, value, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return least;
  }
  double number(const char* field, double least, double most) {
    const Json& value = at(field);
    if (value.is_number() && value.get<double>() >= least && value.get<double>() <= most) {
      return value.get<double>();
    }
    refuse(field, value, "a number from " + Json(least).dump() + " to " + Json(most).dump());
    return least;
  }
  bool boolean(const char* field) {
    const Json& value = at(field);
    if (!value.is_boolean()) refuse(field, value, "true or false");
    return value.is_boolean() && value.get<bool>();
  }
  std::string text(const char* field) {
    const Json& value = at(field);
    if (!value.is_string()) refuse(field, value, "a text");
    return value.is_string() ? value.get<std::string>() : "";
  }
  // Counted from the epoch.
  WallTime time(const char* field) {
    const std::string written = text(field);
    if (!good_) return kNever;
    const auto time = parseTime(written);
    if (time && *time > kNever) return *time;
    problem(field,
            time ? "is before 1970; write a time such as 2026-05-01T12:34:56.123456Z" : time.error().message);
    return kNever;
  }
  // The place of the word among these.
  template <size_t kCount>
  size_t oneOf(const char* field, const std::array<std::string_view, kCount>& words) {
    const std::string written = text(field);
    const auto found = std::find(std::begin(words), std::end(words), written);
    if (found != std::end(words)) return static_cast<size_t>(found - std::begin(words));
    if (good_) problem(field, "is " + shown(written) + "; write one of " + joined(words));
    return 0;
  }
  // The whole numbers of an object whose keys are resources; `usual` for those that it has not.
  Pressure pressure(const char* field, uint8_t usual) {
    Pressure pressure = Profile::filled(usual);
    each(field, [&](size_t resource, LineFields& entry, const char* key) {
      pressure[resource] = static_cast<uint8_t>(entry.integer(key, 0, kMaxPressure));
    });
    return pressure;
  }
  Share share(const char* field) {
    Share share = fullShare();
    each(field, [&](size_t resource, LineFields& entry, const char* key) {
      share[resource] = static_cast<uint16_t>(std::lround(entry.number(key, 0, kMaxShare) * kShareUnit));
    });
    return share;
  }
  std::map<std::string, double> factors(const char* field) {
    std::map<std::string, double> factors;
    const Json& object = map(field);
    LineFields entries(object, line_, problems_);
    for (const auto& [key, value] : object.items()) {
      factors[key] = entries.number(key.c_str(), 1e-6, 1);
    }
    good_ = good_ && entries.good();
    return factors;
  }
  const Json& list(const char* field) { return ofKind(field, Json::value_t::array, "a list"); }
  const Json& map(const char* field) { return ofKind(field, Json::value_t::object, "an object"); }

 private:
  const Json& at(const char* field) const {
    static const Json kNothing;
    const auto found = object_.find(field);
    return found == object_.end() ? kNothing : *found;
  }
  void refuse(const char* field, const Json& value, const std::string& remedy) {
    const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    problem(field, (value.is_null() ? "is missing" : "is " + shown(text)) + "; write " + remedy);
  }
  const Json& ofKind(const char* field, Json::value_t kind, const char* what) {
    static const Json kEmptyList = Json::array(), kEmptyMap = Json::object();
    const Json& value = at(field);
    if (value.type() == kind) return value;
    refuse(field, value, what);
    return kind == Json::value_t::array ? kEmptyList : kEmptyMap;
  }
  template <typename Entry>
  void each(const char* field, const Entry& take) {
    const Json& object = map(field);
    LineFields entries(object, line_, problems_);
    for (const auto& [key, value] : object.items()) {
      const auto resource = resourceNamed(key);
      if (resource) {
        take(static_cast<size_t>(*resource), entries, key.c_str());
      } else {
        entries.problem(
            field, "has " + shown(key) + ", which is no resource; write one of " + joined(kResourceNames));
      }
    }
    good_ = good_ && entries.good();
  }

  const Json& object_;
  const int line_;
  Problems& problems_;
  bool good_ = true;
};

class RecordingReader {
 public:
  // The next part of the recording, the file `path`. Error: kInvalid with what is wrong in it.
  Status read(std::string_view text, const std::string& path) {
    problems_ = Problems(path);
    line_ = 0;
    ++part_;
    while (!text.empty() && !gaveUp_) {
      const size_t end = text.find('\n');
      if (end == std::string_view::npos) {
        // The recorder was killed while it wrote this, unless nothing else is there.
        if (line_ == 0) readLine(text);
        break;
      }
      readLine(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    if (line_ == 0) problems_.add({1, 1}, "", "is empty; write it with `tarcil record`");
    if (!problems_.none()) return problems_.error();
    return {};
  }

  // What all parts say together. Requires: read() has had one, and liked all of them.
  Result<Recording> finish() {
    bringTogether();
    if (!problems_.none()) return problems_.error();
    return std::move(recording_);
  }

 private:
  struct Server {
    sim::RecordedServer server;
    std::string platform;
    int line = 0;
    bool isUp = false, wasUp = false;
    Pressure background{};
    WallTime since = kNever;               // background counts from here
    std::array<double, kResources> sum{};  // of the background, by microseconds
    double micros = 0;
  };
  struct Task {
    std::string server;
    WallTime started, ended;
    bool isOver = false;
    int line = 0;
  };
  struct Job {
    RecordedJob job;
    WallTime submitted = kNever;
    uint32_t tasks = 0;
    bool isOver = false;
    uint32_t part = 0;  // whose line it is
    std::map<uint32_t, Task> ran;
  };

  void readLine(std::string_view text) {
    ++line_;
    Json json;
    try {
      json = Json::parse(text);
    } catch (const Json::parse_error& error) {
      // Past the end where the line is cut off.
      return refuseLine(std::min(std::max<size_t>(error.byte, 1), text.size() + 1), "is not JSON here");
    } catch (const Json::out_of_range&) {
      return refuseLine(1, "has a number that is too large");
    }
    if (!json.is_object()) return refuseLine(1, "is no object");
    LineFields fields(json, line_, problems_);
    if (line_ == 1 && !readHead(fields)) return;
    at_ = timeIn(fields, "at");
    if (!fields.good()) return;
    if (line_ == 1) {
      if (part_ == 1) began_ = at_;
      return;
    }
    last_ = std::max(last_, at_);
    for (const auto& [name, readPart] : kParts) {
      const auto found = json.find(name);
      if (found == json.end()) continue;
      if (!found->is_object()) return fields.problem(name, "is no object; write one");
      LineFields part(*found, line_, problems_);
      return (this->*readPart)(part);
    }
    if (!json.contains("stopped")) {
      fields.problem("line",
                     "tells of nothing that is known; write settings, platform, server, job, progress or"
                     " stopped beside at");
    }
  }

  void refuseLine(size_t column, const std::string& problem) {
    problems_.add({line_, static_cast<int>(column)}, "line", problem + "; write one object a line");
    gaveUp_ = line_ == 1;
  }

  // False where nothing behind it can be understood.
  bool readHead(LineFields& fields) {
    if (fields.isNull("tarcil_recording")) {
      fields.problem("tarcil_recording", "is missing; write a recording with `tarcil record`");
    } else if (const int64_t version = fields.integer("tarcil_recording", 1, INT32_MAX);
               fields.good() && version != kRecordingVersion) {
      fields.problem("tarcil_recording", "is " + std::to_string(version) + "; this tarcil reads " +
                                             std::to_string(kRecordingVersion) +
                                             ", so replay it with the one that recorded it");
    }
    gaveUp_ = !fields.good();
    return !gaveUp_;
  }

  void readSettings(LineFields& fields) {
    QualitySettings settings;
    settings.target = fields.number("target", 0.001, 1);
    settings.confidence = fields.number("confidence", 0.001, 0.999999999);
    if (!fields.isNull("rarity")) settings.rarity = fields.number("rarity", kMinRarity, 1);
    if (!fields.isNull("cap")) settings.cap = static_cast<uint32_t>(fields.integer("cap", 1, kMaxCap));
    settings.floor = static_cast<uint32_t>(fields.integer("floor", 1, kMaxFloor));
    if (!fields.isNull("ratio"))
      settings.ratio = static_cast<uint32_t>(fields.integer("ratio", 1, kMaxRatio));
    settings.model = static_cast<QualityModel>(fields.oneOf("model", kQualityModelNames));
    settings.contention = static_cast<ContentionModel>(fields.oneOf("contention", kContentionModelNames));
    if (!fields.isNull("ranking"))
      settings.ranking = static_cast<RankBy>(fields.oneOf("ranking", kRankByNames));
    settings.margin = static_cast<int>(fields.integer("margin", 0, kMaxPressure));
    settings.noiseFloor = static_cast<int>(fields.integer("noise_floor", 0, kMaxPressure));
    settings.protectNeighbours = fields.boolean("protect_neighbours");
    if (!fields.isNull("neighbour_floor"))
      settings.neighbourFloor = fields.number("neighbour_floor", kMinNeighbourFloor, 1);
    // Those that held when jobs began to come.
    if (!hasSettings_) recording_.settings = settings;
    hasSettings_ = true;
  }

  void readPlatform(LineFields& fields) {
    const std::string name = fields.text("name");
    const Share share = fields.share("share");
    if (fields.good()) shares_[name] = share;
  }

  void readServer(LineFields& fields) {
    const std::string name = fields.text("name"), platform = fields.text("platform");
    const auto rus = static_cast<uint32_t>(fields.integer("rus", 1, kMaxServerRus));
    const bool isUp = fields.boolean("up");
    const Pressure background = fields.pressure("background", 0);
    if (!fields.good()) return;
    auto found = servers_.find(name);
    if (found == servers_.end()) {
      if (servers_.size() == kMaxServers) {
        gaveUp_ = true;
        return fields.problem("server", "is one too many; record at most 100000");
      }
      found = servers_.emplace(name, Server{}).first;
    }
    Server& server = found->second;
    count(server, at_);
    server.server.name = name;
    server.server.rus = std::max(server.server.rus, rus);
    server.platform = platform;
    server.line = line_;
    server.isUp = isUp;
    server.wasUp = server.wasUp || isUp;
    server.background = background;
  }

  // Its background has been as it is until then.
  static void count(Server& server, WallTime until) {
    if (server.isUp && until > server.since) {
      const auto micros = static_cast<double>((until - server.since).count());
      server.micros += micros;
      for (size_t r = 0; r < kResources; ++r) server.sum[r] += micros * server.background[r];
    }
    server.since = until;
  }

  void readJob(LineFields& fields) {
    const auto id = idIn(fields, "id");
    Job job;
    job.submitted = timeIn(fields, "submitted");
    job.tasks = static_cast<uint32_t>(fields.integer("tasks", 1, kMaxTasks));
    job.job.rus = static_cast<uint32_t>(fields.integer("rus_per_task", 1, kMaxRusPerTask));
    job.job.priority = static_cast<uint8_t>(fields.integer("priority", 0, 100));
    if (!fields.isNull("target")) job.job.target = fields.number("target", 1e-6, 1);
    if (!fields.isNull("max_wait_us")) {
      job.job.maxWait = Duration(fields.integer("max_wait_us", 0, kMaxDuration.count()));
    }
    job.job.profile.caused = fields.pressure("caused", 0);
    job.job.profile.tolerated = fields.pressure("tolerated", kMaxPressure);
    job.job.profile.platforms = fields.factors("platforms");
    const bool isSimple = fields.list("beyond").empty();
    if (!fields.good()) return;
    job.part = part_;
    if (const auto [known, isNew] = jobs_.emplace(*id, std::move(job)); !isNew) {
      // Each part tells of the jobs that go on.
      if (known->second.part != part_) return;
      return fields.problem("id", "names a job that has a line above; keep one of them");
    }
    if (!isSimple) ++recording_.simplified;
  }

  void readProgress(LineFields& fields) {
    const auto id = idIn(fields, "job");
    const auto state = stateIn(fields);
    const Json& tasks = fields.list("tasks");
    if (!fields.good()) return;
    const auto found = jobs_.find(*id);
    if (found == jobs_.end()) return fields.problem("job", "has no line of its own above; write one");
    Job& job = found->second;
    job.isOver = job.isOver || isFinal(*state);
    for (const Json& task : tasks) {
      if (!task.is_object())
        return fields.problem("tasks", "has an entry that is no object; write one a task");
      LineFields entry(task, line_, problems_);
      readTask(entry, job);
      if (!entry.good()) return;
    }
  }

  void readTask(LineFields& fields, Job& job) {
    const auto index = static_cast<uint32_t>(fields.integer("index", 0, int64_t{job.tasks} - 1));
    const auto state = stateIn(fields);
    Task task{
        .server = fields.text("server"), .started = timeIn(fields, "started"), .ended = at_, .line = line_};
    if (!fields.isNull("ended")) task.ended = timeIn(fields, "ended");
    if (!fields.good()) return;
    // One that runs on may have started by a clock that is ahead of the recorder's.
    task.isOver = isFinal(*state) && !fields.isNull("ended");
    if (!task.isOver) task.ended = std::max(task.ended, task.started);
    if (task.ended < task.started) return fields.problem("ended", "is before started; mend one of them");
    const auto [it, isNew] = job.ran.insert_or_assign(index, std::move(task));
    if (isNew && ++tasks_ > kMaxTasksInAll) {
      gaveUp_ = true;
      fields.problem("tasks", "are too many; record at most 50000000 in all");
    }
  }

  // No recording is longer than durations may be.
  WallTime timeIn(LineFields& fields, const char* field) const {
    const WallTime time = fields.time(field);
    if (fields.good() && began_ != kNever && (time > began_ + kMaxDuration || time < began_ - kMaxDuration)) {
      fields.problem(field, "is more than ten years from the first line's; mend one of them");
    }
    return time;
  }

  static std::optional<JobId> idIn(LineFields& fields, const char* field) {
    const std::string text = fields.text(field);
    auto id = parseJobId(text);
    if (!id && fields.good()) {
      fields.problem(field, "is " + shown(text) + "; write the 32 hexadecimal digits of a job's id");
    }
    return id;
  }

  static std::optional<RunState> stateIn(LineFields& fields) {
    const std::string text = fields.text("state");
    auto state = runStateNamed(text);
    if (!state && fields.good()) {
      fields.problem("state", "is " + shown(text) +
                                  "; write queued, starting, running, done, failed, cancelled or lost");
    }
    return state;
  }

  void bringTogether() {
    recording_.length = std::max(Duration::zero(), last_ - began_);
    std::set<std::string> used;
    for (const auto& [id, job] : jobs_) {
      for (const auto& [index, task] : job.ran) used.insert(task.server);
    }
    std::map<std::string, uint32_t> places, platforms;
    for (auto& [name, server] : servers_) {
      if (!server.wasUp && !used.contains(name)) continue;
      count(server, last_);
      for (size_t r = 0; r < kResources && server.micros > 0; ++r) {
        server.server.background[r] = static_cast<uint8_t>(std::lround(server.sum[r] / server.micros));
      }
      const auto [platform, isNew] =
          platforms.emplace(server.platform, static_cast<uint32_t>(recording_.platforms.size()));
      if (isNew) {
        const auto share = shares_.find(server.platform);
        recording_.platforms.push_back(
            {server.platform, share == shares_.end() ? fullShare() : share->second});
      }
      server.server.platform = platform->second;
      places.emplace(name, static_cast<uint32_t>(recording_.servers.size()));
      recording_.servers.push_back(server.server);
    }
    if (recording_.platforms.size() > kMaxPlatforms) {
      problems_.add({1, 1}, "platform", "are more than 1000; record fewer");
    }
    for (auto& [id, job] : jobs_) takeJob(job, places);
  }

  void takeJob(Job& from, const std::map<std::string, uint32_t>& places) {
    RecordedJob job = std::move(from.job);
    job.arrival = from.submitted - began_;
    bool isWhole = from.isOver && job.arrival >= Duration::zero() && from.ran.size() == from.tasks;
    for (const auto& [index, task] : from.ran) {
      const auto place = places.find(task.server);
      if (place == places.end()) {
        problems_.add({task.line, 1}, "server", shown(task.server) + " has no line of its own; write one");
        return;
      }
      if (recording_.servers[place->second].rus < job.rus) {
        problems_.add({task.line, 1}, "server",
                      shown(task.server) + " has fewer units than the task holds; mend one of them");
        return;
      }
      isWhole = isWhole && task.isOver;
      job.tasks.push_back({place->second, task.started - began_, task.ended - began_});
    }
    job.isWhole = isWhole;
    if (job.tasks.empty()) {
      ++recording_.neverRan;
    } else {
      recording_.jobs.push_back(std::move(job));
    }
  }

  using Part = void (RecordingReader::*)(LineFields&);
  static constexpr std::pair<const char*, Part> kParts[] = {{"settings", &RecordingReader::readSettings},
                                                            {"platform", &RecordingReader::readPlatform},
                                                            {"server", &RecordingReader::readServer},
                                                            {"job", &RecordingReader::readJob},
                                                            {"progress", &RecordingReader::readProgress}};

  Problems problems_{""};
  uint32_t part_ = 0;
  int line_ = 0;
  bool gaveUp_ = false;
  WallTime at_ = kNever;  // of the line
  WallTime began_ = kNever, last_ = kNever;
  bool hasSettings_ = false;
  size_t tasks_ = 0;
  std::map<std::string, Share> shares_;
  std::map<std::string, Server> servers_;
  std::map<JobId, Job> jobs_;
  Recording recording_;
};

}  // namespace

namespace {

// Names of files of a folder tell their order.
std::vector<std::string> partsOf(const std::string& folder) {
  std::vector<std::string> parts;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().string().ends_with(kRecordingEnding)) parts.push_back(entry.path());
  }
  std::ranges::sort(parts);
  return parts;
}

Result<Recording> readParts(const std::string& folder) {
  RecordingReader reader;
  bool isEmpty = true;
  for (const std::string& part : partsOf(folder)) {
    const auto text = readPackedFile(part, kMaxBytes, CutOff::kAccept);
    // The recorder removes the oldest meanwhile, and has just begun the newest.
    if (!text && !std::filesystem::exists(part)) continue;
    if (!text) return text.error();
    if (text->find('\n') == std::string::npos) continue;
    if (const Status read = reader.read(*text, part); !read) return read.error();
    isEmpty = false;
  }
  if (isEmpty) return invalid(folder + ": holds no recording; write one with `tarcil record --last 24h`");
  return reader.finish();
}

}  // namespace

Result<Recording> parseRecording(std::string_view text, const std::string& path) {
  RecordingReader reader;
  if (const Status read = reader.read(text, path); !read) return read.error();
  return reader.finish();
}

Result<Recording> readRecording(const std::string& path) {
  if (std::filesystem::is_directory(path)) return readParts(path);
  const auto text = readPackedFile(path, kMaxBytes, CutOff::kAccept);
  if (!text) return text.error();
  return parseRecording(*text, path);
}

}  // namespace tarcil
