#include "monitor/container/task_use.h"

#include "core/base/whole_number.h"
#include "monitor/pressure/kept_file.h"
#include "monitor/pressure/task_reader.h"

namespace tarcil {
namespace {

// Of a file of one line that is a number; 0 where there is none.
uint64_t numberIn(const std::string& path) {
  KeptFile file(path);
  const auto text = file.read();
  return text ? wholeNumberIn<uint64_t>(text->substr(0, text->find('\n'))).value_or(0) : 0;
}

}  // namespace

void noteUse(const CgroupDirectories& task, TaskEnd& end) {
  end.peakMemoryBytes = task.memory.empty() ? numberIn(task.unified + "/memory.peak")
                                            : numberIn(task.memory + "/memory.max_usage_in_bytes");
  if (const auto micros = TaskClock(task).cpuMicros(); micros) end.cpuTime = Duration(*micros);
}

}  // namespace tarcil
