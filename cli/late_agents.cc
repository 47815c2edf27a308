#include "cli/late_agents.h"

#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

constexpr auto kAskPatience = 500 * kj::MILLISECONDS;

// What the first of them that has an answer says.
template <typename Answer>
const Answer* firstOf(const kj::Array<kj::Maybe<Answer>>& answers) {
  for (const auto& answer : answers) {
    KJ_IF_MAYBE (found, answer) return found;
  }
  return nullptr;
}

// Of those that answered.
template <typename Answer>
std::vector<Answer> answered(kj::Array<kj::Maybe<Answer>> answers) {
  std::vector<Answer> there;
  for (auto& answer : answers) {
    KJ_IF_MAYBE (found, answer) there.push_back(kj::mv(*found));
  }
  return there;
}

}  // namespace

LateAgents::LateAgents(Cluster& cluster) : cluster_(cluster) {
  for (const std::string& agent : cluster.agents()) {
    clients_.push_back(std::make_unique<Client>(
        cluster.net(), std::vector{agent}, cluster.token(),
        ClientOptions{.firstPatience = kAskPatience, .patience = kAskPatience}, [](const std::string&) {}));
  }
}

// By agent, all at once; null where it does not know, or does not answer.
template <typename Send>
auto LateAgents::ask(Send send) {
  using Answer = decltype(send(std::declval<Session&>()).wait(std::declval<kj::WaitScope&>()));
  auto answers = kj::heapArrayBuilder<kj::Promise<kj::Maybe<Answer>>>(clients_.size());
  for (size_t i = 0; i < clients_.size(); ++i) {
    answers.add(
        clients_[i]->ask(send).then([](Answer&& answer) -> kj::Maybe<Answer> { return kj::mv(answer); },
                                    [this, i](kj::Exception&& exception) -> kj::Maybe<Answer> {
                                      const ErrorCode code = fromException(exception).code;
                                      if (code == ErrorCode::kDenied)
                                        kj::throwFatalException(kj::mv(exception));
                                      if (code != ErrorCode::kNotFound) silent_.insert(cluster_.agents()[i]);
                                      return nullptr;
                                    }));
  }
  return kj::joinPromises(answers.finish());
}

template <typename Send>
auto LateAgents::askAll(Send send) {
  return cluster_.wait(ask(std::move(send)));
}

std::optional<LateJobStatus> LateAgents::find(const JobId& id) {
  std::optional<LateJobStatus> status;
  uint32_t next = 0;
  do {
    auto answers = askAll([id, next](Session& session) {
      auto request = session.agent.lateJobRequest();
      request.setId(bytesOf(id));
      request.setFirstOver(next);
      return request.send();
    });
    const auto* found = firstOf(answers);
    if (found == nullptr) return std::nullopt;
    const auto job = found->getJob();
    if (status) {
      status->finished = wallTime(job.getFinished());
      addOver(job, *status);
    } else {
      status = readLateJob(job);
    }
    next = job.getNextOver();
  } while (next != 0);
  return status;
}

std::optional<RunState> LateAgents::cancel(const JobId& id) {
  auto answers = askAll([id](Session& session) {
    auto request = session.agent.cancelLateJobRequest();
    request.setId(bytesOf(id));
    return request.send();
  });
  const auto* found = firstOf(answers);
  return found == nullptr ? std::nullopt : std::optional(fromWire(found->getState()));
}

kj::Promise<std::optional<RunState>> LateAgents::wait(const JobId& id) {
  return ask([id](Session& session) {
           auto request = session.agent.waitLateJobRequest();
           request.setId(bytesOf(id));
           return request.send();
         })
      .then([](auto&& answers) {
        const auto* found = firstOf(answers);
        return found == nullptr ? std::nullopt : std::optional(fromWire(found->getState()));
      });
}

std::vector<LateAgents::Found> LateAgents::find(const JobReference& reference) {
  return answered(askAll([&reference](Session& session) {
    auto request = session.agent.findLateJobsRequest();
    request.setPrefix(reference.prefix.c_str());
    request.setNumber(reference.number);
    return request.send();
  }));
}

std::vector<LateAgents::Jobs> LateAgents::list(uint32_t limit, wire::JobFilter::Reader filter) {
  return answered(askAll([limit, filter](Session& session) {
    auto request = session.agent.lateJobsRequest();
    request.setLimit(limit);
    request.setFilter(filter);
    return request.send();
  }));
}

kj::Promise<void> LateAgents::copyOutput(const OutputSource& source, Follow follow, Sink sink) {
  return copyFrom(0, source, follow, std::move(sink));
}

// From this agent on, until one knows the job.
kj::Promise<void> LateAgents::copyFrom(size_t agent, OutputSource source, Follow follow, Sink sink) {
  return copyLateOutput(*clients_[agent], source, follow, sink)
      .catch_([this, agent, source, follow, sink](kj::Exception&& exception) -> kj::Promise<void> {
        if (!mayKnow(agent + 1, exception)) return kj::mv(exception);
        return copyFrom(agent + 1, source, follow, sink);
      });
}

kj::Promise<LateAgents::Piece> LateAgents::readOutput(const OutputSource& source, uint64_t offset) {
  return readFrom(0, source, offset);
}

kj::Promise<LateAgents::Piece> LateAgents::readFrom(size_t agent, OutputSource source, uint64_t offset) {
  auto asked = clients_[agent]->ask([source, offset](Session& session) {
    auto request = session.agent.lateOutputRequest();
    request.setId(bytesOf(source.job));
    request.setTask(source.task);
    request.setStream(source.stream);
    request.setOffset(offset);
    return request.send();
  });
  return asked
      .then([offset](auto&& answer) {
        const auto content = answer.getContent();
        return Piece{.text = {reinterpret_cast<const char*>(content.begin()), content.size()},
                     .next = std::max(offset, answer.getStart()) + content.size(),
                     .isAll = answer.getEnded()};
      })
      .catch_([this, agent, source, offset](kj::Exception&& exception) -> kj::Promise<Piece> {
        if (!mayKnow(agent + 1, exception)) return kj::mv(exception);
        return readFrom(agent + 1, source, offset);
      });
}

bool LateAgents::mayKnow(size_t nextAgent, const kj::Exception& exception) const {
  const ErrorCode code = fromException(exception).code;
  return (code == ErrorCode::kNotFound || code == ErrorCode::kUnavailable) && nextAgent < clients_.size();
}

kj::Exception LateAgents::unknown(const JobId& id) const {
  std::string message = "there is no job " + toString(id) + ", or no agent remembers it";
  for (const std::string& agent : silent_) {
    message += (agent == *silent_.begin() ? "; no answer from the agent at " : ", ") + agent;
  }
  return toException(notFound(std::move(message)));
}

}  // namespace tarcil
