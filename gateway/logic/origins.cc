#include "gateway/logic/origins.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/text.h"

namespace tarcil::gateway {
namespace {

std::string inSmallLetters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return small;
}

bool isOfHost(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         std::string_view(".-_:[]").find(letter) != std::string_view::npos;
}

// Behind the host, with its colon; empty where there is none.
std::string_view portOf(std::string_view host) {
  const size_t colon = host.rfind(':');
  const size_t bracket = host.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) return "";
  return host.substr(colon);
}

}  // namespace

Result<Origins> Origins::make(const std::string& listens, const std::vector<std::string>& told) {
  Origins origins;
  const std::string_view port = portOf(listens);
  const std::string host = inSmallLetters(std::string_view(listens).substr(0, listens.size() - port.size()));
  const auto add = [&origins, port](const std::string& name) {
    origins.hosts_.insert(name + std::string(port));
    if (port == ":80" || port == ":443") origins.hosts_.insert(name);
  };
  add(host);
  if (host == "localhost" || host == "[::1]" || host.starts_with("127.")) {
    for (const char* loopback : {"localhost", "127.0.0.1", "[::1]"}) add(loopback);
  }
  for (const std::string& name : told) {
    if (name.empty() || !std::ranges::all_of(name, isOfHost) || name.size() > 300)
      return invalid(shown(name) +
                     " is no name of a host; write HOST or HOST:PORT, such as tarcil.example.org");
    origins.hosts_.insert(inSmallLetters(name));
    if (portOf(name).empty()) add(inSmallLetters(name));
  }
  return origins;
}

bool Origins::servesHost(std::string_view host) const {
  return hosts_.contains(inSmallLetters(host));
}

bool Origins::isOwn(std::string_view origin) const {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return servesHost(origin.substr(scheme.size()));
  }
  return false;
}

}  // namespace tarcil::gateway
