// The page over HTTP: its files by address, with what browsers are told of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "gateway/server/page_files.h"

namespace tarcil::gateway {

struct ServedFile {
  std::string_view content;
  std::string type;        // Content-Type
  std::string digest;      // ETag
  bool isForGood = false;  // its name carries a digest, so that what it holds never changes
};

class Page final {
 public:
  explicit Page(std::span<const PageFile> files);

  // Null where there is none. A path that is of no file and not below /assets/ is one of the page's own
  // links: it gets index.html.
  const ServedFile* find(std::string_view path) const;

 private:
  std::map<std::string, ServedFile, std::less<>> files_;  // by path, with / before it
};

}  // namespace tarcil::gateway
