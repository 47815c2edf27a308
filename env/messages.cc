#include "env/messages.h"

#include <cstdio>
#include <string>

namespace tarcil {

void say(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const size_t end = message.find('\n');
    text.append("tarcil: ").append(message.substr(0, end)).append("\n");
    message.remove_prefix(end == std::string_view::npos ? message.size() : end + 1);
  }
  // In one piece, so that messages of several processes do not mix. A lost stderr has nobody to be told.
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace tarcil
