// What a monitor tells tarcil-image on its command line, and what it hears: both of one build.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "image/fetch.h"
#include "image/sandbox.h"

namespace tarcil::image {

struct Arguments {
  Sandbox sandbox;
  Request request;
};

// Exit codes beside 0.
inline constexpr int kBadImage = 2;   // or its reference: as it is, it does not start here or elsewhere
inline constexpr int kBadServer = 3;  // a disk that is full, rights that are missing

// As NAME=VALUE.
std::vector<std::string> encodeArguments(const Arguments& arguments);
Result<Arguments> parseArguments(const std::vector<std::string>& words);

// On standard output, where the exit code is 0; else that has the problem, for people.
std::string encodeFetched(const Fetched& fetched);
std::optional<Fetched> decodeFetched(const std::string& text);

}  // namespace tarcil::image
