// Which names a gateway is served under: against pages of others that send a browser here (DNS rebinding,
// cross-site requests). Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tarcil::gateway {

class Origins final {
 public:
  // `listens`: HOST:PORT; `told`: names that it is served under besides, HOST or HOST:PORT. On loopback the
  // names of loopback count too, and a name without a port has that of `listens`, and none. Invalid where one
  // is no host.
  static Result<Origins> make(const std::string& listens, const std::vector<std::string>& told);

  // Whether a request with this Host header is for us. Empty: it has none.
  bool servesHost(std::string_view host) const;
  // Whether a page of this origin is ours: "http://HOST" or "https://HOST".
  bool isOwn(std::string_view origin) const;

 private:
  std::set<std::string, std::less<>> hosts_;  // in small letters
};

}  // namespace tarcil::gateway
