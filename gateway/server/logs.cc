#include "gateway/server/logs.h"

#include "cli/late_agents.h"
#include "cli/output/job_status.h"
#include "gateway/server/answers.h"
#include "gateway/server/reply.h"
#include "gateway/server/streams.h"
#include "schema/convert.h"

namespace tarcil::gateway {
namespace {

constexpr auto kAlive = 10 * kj::SECONDS;
constexpr auto kBetweenReads = 1 * kj::SECONDS;

wire::Stream streamOf(const Arguments& arguments) {
  return arguments.text("stream") == "stderr" ? wire::Stream::STDERR : wire::Stream::STDOUT;
}

std::string eventText(const std::string& name, const Json& data) {
  return "event: " + name + "\ndata: " + textOf(data) + "\n\n";
}

std::string outputText(uint64_t offset, std::string_view text) {
  return eventText("output", {{"offset", offset}, {"text", text}});
}

void requireTask(TaskIndex index, size_t tasks) {
  if (index >= tasks) {
    throw Failure(kExitFailed, "the job has no task " + std::to_string(index) + ": it has " +
                                   std::to_string(tasks) + ", from 0");
  }
}

LogPiece readLateLog(Cluster& cluster, const JobId& job, TaskIndex index, const Arguments& arguments) {
  LateAgents agents(cluster);
  const auto known = agents.find(job);
  if (!known) throw agents.unknown(job);
  requireTask(index, known->tasks.size());
  LogPiece piece{.job = job, .next = static_cast<uint64_t>(arguments.whole("offset")), .isLate = true};
  if (!isFinal(known->tasks[index].state)) return piece;
  auto read = cluster.wait(agents.readOutput({job, index, streamOf(arguments)}, piece.next));
  piece.text = std::move(read.text);
  piece.next = read.next;
  piece.isAll = read.isAll || piece.text.empty();
  return piece;
}

}  // namespace

LogPiece readLog(Cluster& cluster, const Arguments& arguments) {
  LogPiece piece{.job = requireJob(cluster, arguments.text("job")).id};
  const auto index = static_cast<TaskIndex>(arguments.whole("task"));
  piece.next = static_cast<uint64_t>(arguments.whole("offset"));
  const auto job = cluster.wait(foundOrNothing(fetchJobPage(cluster.client(), piece.job, index, 1)));
  if (!job) return readLateLog(cluster, piece.job, index, arguments);
  requireTask(index, job->record.spec.tasks);
  const RunState state = job->tasks.front().state;
  // Before it has started, its output would be waited for.
  if (state == RunState::kQueued || state == RunState::kStarting) return piece;
  auto answer = cluster.ask([&](Session& session) {
    auto request = session.agent.outputRequest();
    request.setId(bytesOf(piece.job));
    request.setTask(index);
    request.setStream(streamOf(arguments));
    request.setOffset(piece.next);
    return request.send();
  });
  const auto content = answer.getContent();
  piece.text.assign(reinterpret_cast<const char*>(content.begin()), content.size());
  piece.next = std::max(piece.next, answer.getStart()) + content.size();
  piece.isAll = answer.getEnded();
  return piece;
}

LogStream::LogStream(Net net, std::vector<std::string> agents, std::string token, kj::Duration writeTime,
                     kj::Own<kj::AsyncOutputStream> to, const LogPiece& begin, const Arguments& arguments)
    : timer_(net.timer),
      client_(net, std::move(agents), std::move(token), {}, [](const std::string&) {}),
      writeTime_(writeTime),
      to_(kj::mv(to)),
      job_(begin.job),
      task_(static_cast<TaskIndex>(arguments.whole("task"))),
      stream_(streamOf(arguments)),
      offset_(begin.next),
      begin_(begin.text.empty() ? ": begin\n\n" : outputText(begin.next - begin.text.size(), begin.text)),
      isAll_(begin.isAll) {}

kj::Promise<void> LogStream::run() {
  return writeAndGoOn(std::move(begin_), isAll_);
}

kj::Promise<void> LogStream::writeAndGoOn(std::string text, bool isAll) {
  if (isAll) text += eventText("ended", Json::object());
  return writeWithin(timer_, writeTime_, *to_, std::move(text)).then([this, isAll]() -> kj::Promise<void> {
    if (isAll) return kj::READY_NOW;
    return ask();
  });
}

kj::Promise<void> LogStream::ask() {
  auto asked = client_.ask([this](Session& session) {
    auto request = session.agent.outputRequest();
    request.setId(bytesOf(job_));
    request.setTask(task_);
    request.setStream(stream_);
    request.setOffset(offset_);
    request.setWait(true);
    return request.send();
  });
  using Next = std::pair<std::string, bool>;
  auto next = asked.then([this](auto&& answer) {
    // Started again, its output begins anew.
    if (allocation_ != 0 && answer.getAllocation() != allocation_) {
      allocation_ = answer.getAllocation();
      offset_ = 0;
      return Next(": anew\n\n", false);
    }
    allocation_ = answer.getAllocation();
    const auto content = answer.getContent();
    const uint64_t start = std::max(offset_, answer.getStart());
    offset_ = start + content.size();
    return Next(outputText(start, {reinterpret_cast<const char*>(content.begin()), content.size()}),
                answer.getEnded());
  });
  auto silence = timer_.afterDelay(kAlive).then([]() { return Next(": alive\n\n", false); });
  return next.exclusiveJoin(kj::mv(silence)).then([this](Next&& what) {
    return writeAndGoOn(std::move(what.first), what.second);
  });
}

kj::Promise<void> LateLogStream::run(LogPiece piece) {
  std::string text =
      piece.text.empty() ? ": alive\n\n" : outputText(piece.next - piece.text.size(), piece.text);
  if (piece.isAll) text += eventText("ended", Json::object());
  auto written = writeWithin(timer_, writeTime_, *to_, std::move(text));
  if (piece.isAll) return written;
  const auto pause = piece.text.empty() ? kBetweenReads : 0 * kj::SECONDS;
  return written.then([this, pause]() { return timer_.afterDelay(pause); })
      .then([this, next = piece.next]() { return read_(next); })
      .then([this](LogPiece&& more) { return run(kj::mv(more)); });
}

}  // namespace tarcil::gateway
