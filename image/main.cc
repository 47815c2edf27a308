// tarcil-image: fetches an image for the monitor of a server, which starts one of these for each.
//
//   monitor -> tarcil-image (waits) -> the same as user nobody, in namespaces of its own -> skopeo, umoci
//
// What comes from outside, a registry's answers, layouts, archives, is read by nobody else on the server, and
// by this with no right but to one empty folder and the network. The monitor gets a line, and takes the
// folder over when all processes in it have ended. It ends with the monitor.
#include <clocale>
#include <cstdlib>
#include <iostream>

#include "image/arguments.h"
#include "image/fetch.h"
#include "image/sandbox.h"

namespace tarcil::image {
namespace {

int say(const Error& error) {
  std::cout << error.message << std::flush;
  return error.code == ErrorCode::kInvalid ? kBadImage : kBadServer;
}

int run(int count, char** words) {
  const auto arguments = parseArguments({words + 1, words + count});
  if (!arguments) return say(arguments.error());
  if (Status entered = enter(arguments->sandbox); !entered.ok()) return say(entered.error());
  // Names in archives are in UTF-8.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto fetched = fetch(arguments->request);
  if (!fetched) return say(fetched.error());
  std::cout << encodeFetched(*fetched) << std::flush;
  return 0;
}

}  // namespace
}  // namespace tarcil::image

int main(int count, char** words) {
  // Nothing is left to be done, and a sanitizer's search for leaks would need rights that were given up.
  std::_Exit(tarcil::image::run(count, words));
}
