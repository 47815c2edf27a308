#include "core/model/gang_hosts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tarcil {
namespace {

bool isOfAHost(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '_' || c == ':';
}

// Of no more than the bound, or empty: what is cut off would be read as the whole.
class BoundedText {
 public:
  void append(std::string_view text) {
    isTooLong_ = isTooLong_ || text_.size() + text.size() > kMaxGangHostsBytes;
    if (!isTooLong_) text_ += text;
  }
  std::string take() { return isTooLong_ ? std::string() : std::move(text_); }

 private:
  std::string text_;
  bool isTooLong_ = false;
};

std::string listOf(const std::vector<std::string_view>& hosts) {
  BoundedText text;
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (i > 0) text.append(",");
    text.append(hosts[i]);
  }
  return text.take();
}

std::string fileOf(const std::vector<std::string_view>& hosts) {
  std::vector<std::string_view> inOrder;
  std::unordered_map<std::string_view, size_t> slots;
  for (const std::string_view host : hosts) {
    if (!host.empty() && ++slots[host] == 1) inOrder.push_back(host);
  }
  BoundedText text;
  for (const std::string_view host : inOrder) {
    text.append(std::string(host).append(" slots=").append(std::to_string(slots[host])).append("\n"));
  }
  return text.take();
}

}  // namespace

std::string_view hostOf(std::string_view address) {
  if (address.starts_with("unix:")) return "localhost";
  std::string_view host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::ranges::all_of(host, isOfAHost) ? host : std::string_view();
}

GangHosts gangHosts(const std::vector<std::string_view>& hosts) {
  return {listOf(hosts), fileOf(hosts)};
}

}  // namespace tarcil
