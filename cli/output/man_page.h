// Manual pages, from the same descriptions that --help shows.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/command.h"

namespace tarcil {

// A command, as its page is to show it.
struct Described {
  std::string path;                   // "tarcil job list"
  const CLI::App* command = nullptr;  // built; outlives this
  const CLI::App* parent = nullptr;   // of `tarcil` none
};

// The application and every command below it, each behind its parent. Builds them.
std::vector<Described> describedCommands(CLI::App& app);

// "tarcil-job-list", of section 1.
std::string manPageName(const std::string& path);

// The page in the language of man(7). What it names of the others is what it links to: the commands above,
// beside and below it and those that its texts quote.
std::string manPage(const Described& described, const std::vector<Described>& all);

}  // namespace tarcil
