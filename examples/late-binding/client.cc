// Submits late-bound jobs from a program, and says where the time of their tasks went.
//
//   late-binding-client TOKEN-FILE AGENT[,AGENT...] TASKS COMMAND [ARGUMENT...]
#include "tarcil/late_binding.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

class Count final : public tarcil::LateBindingListener {
 public:
  void taskOver(const tarcil::LateBindingResult& result) override {
    using Outcome = tarcil::LateBindingResult::Outcome;
    const bool succeeded = result.outcome == Outcome::kDone && result.code == 0;
    succeeded ? ++done : ++failed;
    if (!result.problem.empty()) std::cerr << result.problem << "\n";
    waited += result.reserve + result.queue + result.getTask;
    ran += result.service;
  }

  void agentFailed(const std::string& agent, const std::vector<tarcil::LateBindingTask>& tasks) override {
    std::cerr << agent << " is out of reach with " << tasks.size() << " tasks in its hands\n";
  }

  void denied(const std::string& why) override {
    std::cerr << why << "\n";
    std::exit(3);
  }

  // Read by others only after wait().
  uint64_t done = 0, failed = 0;
  std::chrono::microseconds waited{0}, ran{0};
};

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

int main(int count, char** words) try {
  if (count < 5) {
    std::cerr << "usage: " << words[0] << " TOKEN-FILE AGENT[,AGENT...] TASKS COMMAND [ARGUMENT...]\n";
    return 2;
  }
  std::string token;
  std::ifstream(words[1]) >> token;
  Count results;
  tarcil::LateBindingClient client({.agents = parts(words[2]), .token = token}, results);
  tarcil::LateBindingJob job;
  job.tasks = static_cast<uint32_t>(std::stoul(words[3]));
  job.command.assign(words + 4, words + count);
  client.submit(job);
  client.wait();
  std::cout << results.done << " done, " << results.failed << " failed";
  if (results.done > 0) {
    std::cout << "; on average " << results.waited.count() / results.done << " us from submission to launch, "
              << results.ran.count() / results.done << " us running";
  }
  std::cout << "\n";
  return results.failed == 0 ? 0 : 1;
} catch (const std::exception& problem) {
  std::cerr << problem.what() << "\n";
  return 2;
}
