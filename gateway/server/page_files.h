// The page, as it was built: files that came with the executable (gateway/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace tarcil::gateway {

struct PageFile {
  std::string_view path;  // below the page's folder: "index.html", "assets/app.js"
  std::string_view content;
};

std::span<const PageFile> pageFiles();

}  // namespace tarcil::gateway
