#include "monitor/container/memory_kill.h"

#include <sys/klog.h>

#include <algorithm>

#include "monitor/logic/pressure/kernel_text.h"

namespace tarcil {
namespace {

constexpr uint64_t kPage = 4096;
// Others than the one that was killed are named if they held that much, the largest of them.
constexpr uint64_t kWorthNaming = 1 << 20;
constexpr size_t kMaxNamed = 3;

// What comes after the first "before" up to "behind" or the end; empty where there is none.
std::string_view between(std::string_view text, std::string_view before, std::string_view behind) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, behind.empty() ? text.size() : text.find(behind));
}

std::string printable(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// The kernel's message of a line "<LEVEL>[TIME] message", or of one "[TIME] message".
std::string_view messageIn(std::string_view line) {
  const size_t end = line.find("] ");
  return end == std::string_view::npos ? line : line.substr(end + 2);
}

// One report of the kernel, whose lines follow each other: what it counted, the table of processes, who was
// chosen, who was killed.
class KillReport {
 public:
  explicit KillReport(std::string_view cgroup) : cgroup_(cgroup) {}

  void add(std::string_view message) {
    if (message.find(" invoked oom-killer: ") != std::string_view::npos) {
      *this = KillReport(cgroup_);
    } else if (message.starts_with("[  pid  ]")) {
      // "[  pid  ] uid tgid total_vm rss ... name": kernels differ in the columns between.
      columns_ = fieldsOf(message).size();
      if (columns_ < kMinColumns) columns_ = 0;
    } else if (message.starts_with("[") && columns_ > 0) {
      addProcess(message);
    } else if (message.starts_with("oom-kill:constraint=")) {
      choose(message);
    } else if (const auto fields = fieldsOf(message); fields.size() == 2) {
      // A line of memory.stat; version 1 has those of the cgroup alone besides.
      if (fields[0] == "shmem" || fields[0] == "total_shmem")
        filesInMemory_ = numberIn(fields[1]).value_or(0);
    }
  }

  // The kill, if the message is that of the process that was chosen.
  std::optional<MemoryKill> killIn(std::string_view message) const {
    const size_t at = message.find("Killed process ");
    if (chosen_.empty() || at == std::string_view::npos) return std::nullopt;
    message.remove_prefix(at + std::string_view("Killed process ").size());
    if (message.substr(0, message.find(' ')) != chosen_) return std::nullopt;
    // The name may hold anything: it ends where what the kernel adds begins, seen from the end.
    const size_t begin = message.find('('), end = message.rfind(") total-vm:");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
    MemoryKill kill;
    kill.atOwnLimit = atOwnLimit_;
    kill.killed.name = printable(message.substr(begin + 1, end - begin - 1));
    message.remove_prefix(end);
    for (const char* kind : {"anon-rss:", "file-rss:", "shmem-rss:"}) {
      kill.killed.bytes +=
          1024 * std::min<uint64_t>(numberIn(between(message, kind, "kB")).value_or(0), UINT32_MAX);
    }
    if (!atOwnLimit_) return kill;
    for (const auto& [pid, holder] : processes_) {
      if (pid != chosen_) kill.others.push_back(holder);
    }
    std::stable_sort(kill.others.begin(), kill.others.end(),
                     [](const MemoryHolder& a, const MemoryHolder& b) { return a.bytes > b.bytes; });
    kill.filesInMemory = filesInMemory_;
    return kill;
  }

 private:
  void addProcess(std::string_view row) {
    const auto number = fieldsOf(between(row, "[", "]"));
    const auto fields = fieldsOf(between(row, "]", ""));
    if (number.size() != 1 || fields.size() + kOfPid < columns_) return;
    const uint64_t pages = std::min<uint64_t>(numberIn(fields[3]).value_or(0), UINT32_MAX);
    const std::string_view first = fields[columns_ - kOfPid - 1];
    const std::string_view name = row.substr(static_cast<size_t>(first.data() - row.data()));
    processes_.emplace_back(std::string(number[0]), MemoryHolder{printable(name), pages * kPage});
  }

  // The names of cgroups are ours and come before that of the process.
  void choose(std::string_view message) {
    const std::string_view group = between(message, ",task_memcg=", ",task=");
    chosen_.clear();
    if (!group.ends_with(cgroup_)) return;
    atOwnLimit_ = between(message, ",oom_memcg=", ",task_memcg=") == group;
    const size_t pid = message.rfind(",pid="), end = message.rfind(",uid=");
    if (pid != std::string_view::npos && end != std::string_view::npos && pid < end) {
      chosen_ = message.substr(pid + 5, end - pid - 5);
    }
  }

  static constexpr size_t kOfPid = 3;       // words of the heading that stand for the pid: "[", "pid", "]"
  static constexpr size_t kMinColumns = 8;  // with uid, tgid, total_vm, rss and name

  std::string_view cgroup_;
  size_t columns_ = 0;  // words of the table's heading; 0: it was not seen
  std::vector<std::pair<std::string, MemoryHolder>> processes_;
  uint64_t filesInMemory_ = 0;
  std::string chosen_;  // its pid; empty: of another cgroup
  bool atOwnLimit_ = true;
};

std::string sizeText(uint64_t bytes) {
  constexpr uint64_t kMiB = 1 << 20;
  if (bytes < kMiB) return std::to_string((bytes + 1023) / 1024) + " KiB";
  return std::to_string((bytes + kMiB / 2) / kMiB) + " MiB";
}

// In the largest unit that keeps it whole, as somebody may have written it; rounded where none does.
std::string limitText(uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30, " GiB"}, std::pair{20, " MiB"}, std::pair{10, " KiB"}}) {
    if (bytes >> shift << shift == bytes) return std::to_string(bytes >> shift) + unit;
  }
  return sizeText(bytes);
}

std::string heldText(const MemoryHolder& holder) {
  return "'" + holder.name + "' held " + sizeText(holder.bytes);
}

}  // namespace

std::optional<MemoryKill> lastMemoryKill(std::string_view kernelLog, std::string_view cgroup) {
  std::optional<MemoryKill> last;
  KillReport report(cgroup);
  for (const std::string_view line : linesOf(kernelLog)) {
    const std::string_view message = messageIn(line);
    if (auto kill = report.killIn(message)) last = std::move(kill);
    report.add(message);
  }
  return last;
}

std::string memoryKillText(const std::optional<MemoryKill>& kill, uint64_t limit) {
  std::string text = "the kernel killed a process of the task";
  if (kill && !kill->atOwnLimit) {
    text += " because the server had no memory left";
  } else {
    text += limit > 0 ? " at its memory limit of " + limitText(limit) : " for memory";
  }
  if (!kill) return text;
  text += ": " + heldText(kill->killed);
  size_t named = 0;
  for (const MemoryHolder& other : kill->others) {
    if (other.bytes < kWorthNaming || named++ == kMaxNamed) break;
    text += ", " + heldText(other);
  }
  if (kill->filesInMemory >= kWorthNaming) text += ", files in memory " + sizeText(kill->filesInMemory);
  return text;
}

std::string kernelLog() {
  constexpr int kReadAll = 3, kSizeOfBuffer = 10;  // SYSLOG_ACTION_..., see syslog(2)
  constexpr int kMax = 1 << 20;
  const int size = std::min(::klogctl(kSizeOfBuffer, nullptr, 0), kMax);
  if (size <= 0) return {};
  std::string text(static_cast<size_t>(size), '\0');
  const int got = ::klogctl(kReadAll, text.data(), size);
  text.resize(static_cast<size_t>(std::max(got, 0)));
  return text;
}

}  // namespace tarcil
