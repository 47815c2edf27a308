#include "monitor/logic/attach_pages.h"

#include <map>
#include <string>

namespace tarcil::monitor {

std::vector<AttachPage> attachPages(const std::vector<ServerFacts>& servers,
                                    const std::vector<KnownTask>& tasks, size_t serversOfPage) {
  std::vector<AttachPage> pages(1);
  std::map<std::string, size_t> pageOf;
  for (const ServerFacts& server : servers) {
    if (pages.back().servers.size() >= serversOfPage) pages.emplace_back();
    pages.back().servers.push_back(server);
    pageOf.emplace(server.name, pages.size() - 1);
  }
  for (const KnownTask& task : tasks) {
    const auto found = pageOf.find(task.server);
    pages[found == pageOf.end() ? 0 : found->second].tasks.push_back(task);
  }
  return pages;
}

}  // namespace tarcil::monitor
