#include "cli/after.h"

#include <utility>

#include "cli/command.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

constexpr const char* kOption = "--after";

JobId findOne(Cluster& cluster, const std::string& file, const NamedJob& named) {
  try {
    const FoundJob found = cluster.job(named.name);
    if (!found.task) return found.id;
    throw badInput(shown(named.name) + " names a task; write the job alone, or each: to start task by task");
  } catch (const Failure& failure) {
    if (failure.code() != kExitBadInput && failure.code() != kExitFailed) throw;
    if (named.field == kOption) throw badInput(std::string(kOption) + ": " + failure.what());
    Problems problems(file);
    problems.add(named.place, named.field, failure.what());
    throw badInput(problems.error().message);
  }
}

}  // namespace

void addAfter(const std::string& flag, NamedAfter& after) {
  for (size_t start = 0; start <= flag.size();) {
    const size_t comma = std::min(flag.find(',', start), flag.size());
    std::string word = flag.substr(start, comma - start);
    start = comma + 1;
    std::vector<NamedJob>* list = &after.ok;
    const auto is = [&word](std::string_view kind) {
      if (!word.starts_with(kind)) return false;
      word.erase(0, kind.size());
      return true;
    };
    const bool isEach = is("each:");
    if (is("any:")) {
      list = &after.any;
    } else if (is("failed:")) {
      list = &after.failed;
    } else {
      is("ok:");
    }
    if (word.empty())
      throw badInput("--after: a job is missing in " + shown(flag) +
                     "; write, for example, ok:4711,any:4712");
    NamedJob named{std::move(word), {}, kOption};
    if (!isEach) {
      list->push_back(std::move(named));
    } else if (after.each) {
      throw badInput("--after: each: is there twice; tasks start after those of one job");
    } else {
      after.each = std::move(named);
    }
  }
}

void findAfter(Cluster& cluster, const std::string& file, JobFile& job) {
  After& after = job.spec.after;
  for (const auto& [named, found] :
       {std::pair{&job.after.ok, &after.ok}, std::pair{&job.after.any, &after.any},
        std::pair{&job.after.failed, &after.failed}}) {
    for (const NamedJob& one : *named) found->push_back(findOne(cluster, file, one));
  }
  if (job.after.each) after.each = findOne(cluster, file, *job.after.each);
}

}  // namespace tarcil
