// Judges a torture run by what was recorded and what is stored: see checker.h.
//   tarcil_torture_check HISTORY STORE     exit code 0: everything holds, 1: something does not, 2: cannot be
//   read tarcil_torture_check --print HISTORY   the events as text, numbered as problems name them
#include <fcntl.h>
#include <kj/io.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>

#include "master/store/rocks/rocks_store.h"
#include "tests/torture/checker.h"

namespace tarcil::torture {
namespace {

constexpr size_t kMaxShown = 20;

kj::AutoCloseFd openHistory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error(path + ": cannot be opened");
  return kj::AutoCloseFd(fd);
}

int print(const std::string& history) {
  kj::FdInputStream file(openHistory(history));
  kj::BufferedInputStreamWrapper in(file);
  std::string text;
  for (EventNumber number = 1; printEvent(in, text); ++number)
    std::printf("%llu %s\n", static_cast<unsigned long long>(number), text.c_str());
  return 0;
}

void printTally(const Tally& tally) {
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%llu kills, %llu attachments of agents, %llu commits and repeats, %llu answers, "
      "%llu claims granted, %llu refused, %llu calls with reports\n",
      number(tally.kills), number(tally.attached), number(tally.commits), number(tally.answers),
      number(tally.granted), number(tally.refused), number(tally.reports));
}

int check(const std::string& history, const std::string& folder) {
  Checker checker;
  kj::FdInputStream file(openHistory(history));
  kj::BufferedInputStreamWrapper in(file);
  for (Event event; readEvent(in, event);) checker.take(event);
  const auto reading = readWholeStore(folder);
  if (!reading.ok()) throw std::runtime_error(reading.error().message);
  std::vector<std::string> problems;
  for (const StoreProblem& problem : reading->unreadable)
    problems.push_back("store: " + problem.key + ": " + problem.what);
  for (std::string& problem : checker.finish(reading->store)) problems.push_back(std::move(problem));
  if (checker.tally().commits == 0) {
    problems.push_back(
        "nothing was committed, so nothing is shown: the machine is too busy for masters that "
        "are killed so often");
  }
  printTally(checker.tally());
  for (size_t i = 0; i < problems.size() && i < kMaxShown; ++i) std::printf("%s\n", problems[i].c_str());
  if (problems.size() > kMaxShown) std::printf("and %zu more problems\n", problems.size() - kMaxShown);
  return problems.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tarcil::torture

int main(int argc, char** argv) {
  std::string history, store;
  bool print = false;
  CLI::App app("Judges a torture run.");
  app.add_option("history", history, "The file of events.")->required();
  app.add_option("store", store, "The folder of the master's store.");
  app.add_flag("--print", print, "Print the events instead.");
  CLI11_PARSE(app, argc, argv);
  try {
    return print ? tarcil::torture::print(history) : tarcil::torture::check(history, store);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "tarcil_torture_check: %s\n", problem.what());
  } catch (const kj::Exception& problem) {
    std::fprintf(stderr, "tarcil_torture_check: %s\n", kj::str(problem).cStr());
  }
  return 2;
}
