// Question: how long does a whole command take, from its start to its end, against the cheapest there is?
//
//   command_time [--runs N] -- COMMAND [ARGUMENT...]
//
// Runs /bin/true and COMMAND in turn, N times each, with posix_spawn and wait, their output thrown away, and
// prints the spread of both. In turn, because what else goes on on the machine then slows down both alike.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/report.h"

extern char** environ;

namespace tarcil::bench {
namespace {

// Exits where the command does not: a figure of failures would mislead.
double timeOf(std::vector<std::string>& command, const posix_spawn_file_actions_t& output) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto begin = Steady::now();
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0], &output, nullptr, arguments.data(), environ);
  if (error != 0) {
    std::fprintf(stderr, "command_time: cannot run %s: %s\n", arguments[0], std::strerror(error));
    std::exit(2);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  const auto end = Steady::now();
  if (status != 0) {
    std::fprintf(stderr, "command_time: %s failed\n", arguments[0]);
    std::exit(1);
  }
  return milliseconds(end - begin);
}

int usage() {
  std::fprintf(stderr, "usage: command_time [--runs N] -- COMMAND [ARGUMENT...]\n");
  return 2;
}

int run(std::vector<std::string> words) {
  size_t runs = 200;
  if (words.size() > 1 && words[0] == "--runs") {
    runs = std::strtoul(words[1].c_str(), nullptr, 10);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (runs == 0 || words.size() < 2 || words[0] != "--") return usage();
  words.erase(words.begin());
  std::vector<std::string> least = {"/bin/true"};
  posix_spawn_file_actions_t output;
  ::posix_spawn_file_actions_init(&output);
  ::posix_spawn_file_actions_addopen(&output, 1, "/dev/null", O_WRONLY, 0);
  printConditions();
  timeOf(least, output);
  timeOf(words, output);
  std::vector<double> floor, whole;
  for (size_t i = 0; i < runs; ++i) {
    floor.push_back(timeOf(least, output));
    whole.push_back(timeOf(words, output));
  }
  ::posix_spawn_file_actions_destroy(&output);
  std::string name;
  for (const std::string& word : words) {
    if (word == words.front()) {
      name = word.substr(word.rfind('/') + 1);
    } else if (word.size() < 12) {
      name += " " + word;
    }
  }
  printSpread("/bin/true", std::move(floor));
  printSpread(name, std::move(whole));
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  return tarcil::bench::run({argv + 1, argv + argc});
}
