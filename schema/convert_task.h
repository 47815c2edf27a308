// TaskSpec inside JobSpec and LaunchSpec, whose fields on the wire have the same names.
#pragma once

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil::convert {

template <typename Builder>
void writeTask(const TaskSpec& value, Builder& to) {
  writeTexts(value.command, to.initCommand(static_cast<uint32_t>(value.command.size())));
  writeMap(value.env, to.initEnv(static_cast<uint32_t>(value.env.size())));
  to.setWorkdir(text(value.workdir));
  to.setUser(text(value.user));
  to.setMemoryBytes(value.limits.memoryBytes);
  to.setPids(value.limits.pids);
  to.setOutputBytes(value.limits.outputBytes);
  to.setDiskBytesPerSecond(value.limits.diskBytesPerSecond);
  to.setNetworkBytesPerSecond(value.limits.networkBytesPerSecond);
  to.setDiskBytes(value.limits.diskBytes);
  to.setGrace(static_cast<uint64_t>(value.grace.count()));
  to.setTimeout(static_cast<uint64_t>(value.timeout.count()));
  to.setExclusive(value.exclusive);
  write(value.container, to.initContainer());
  if (value.performance) write(*value.performance, to.initPerformance());
  to.setInput(text(value.input));
  to.setOutput(text(value.output));
  to.setError(text(value.error));
  to.setStreamed(value.streamed);
  writeTexts(value.results, to.initResults(static_cast<uint32_t>(value.results.size())));
  writeTexts(value.secrets, to.initSecrets(static_cast<uint32_t>(value.secrets.size())));
}

template <typename Reader>
void readTask(Reader from, TaskSpec& value) {
  value.command = readTexts(from.getCommand());
  value.env = readMap(from.getEnv());
  value.workdir = text(from.getWorkdir());
  value.user = text(from.getUser());
  value.limits = {from.getMemoryBytes(),           from.getPids(),
                  from.getOutputBytes(),           from.getDiskBytesPerSecond(),
                  from.getNetworkBytesPerSecond(), from.getDiskBytes()};
  value.grace = Duration(from.getGrace());
  value.timeout = Duration(from.getTimeout());
  value.exclusive = from.getExclusive();
  value.container = read(from.getContainer());
  if (from.hasPerformance()) value.performance = read(from.getPerformance());
  value.input = text(from.getInput());
  value.output = text(from.getOutput());
  value.error = text(from.getError());
  value.streamed = from.getStreamed();
  value.results = readTexts(from.getResults());
  value.secrets = readTexts(from.getSecrets());
}

}  // namespace tarcil::convert
