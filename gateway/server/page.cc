#include "gateway/server/page.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/base/hex.h"
#include "identity/certificates.h"

namespace tarcil::gateway {
namespace {

std::string typeOf(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 11> kTypes = {
      {{".html", "text/html; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".mjs", "text/javascript; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".json", "application/json"},
       {".map", "application/json"},
       {".svg", "image/svg+xml"},
       {".png", "image/png"},
       {".ico", "image/x-icon"},
       {".txt", "text/plain; charset=utf-8"},
       {".woff2", "font/woff2"}}};
  for (const auto& [ending, type] : kTypes) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

// "app-D3x9_Ka1.js", as build tools write it: eight letters or more behind the last dash.
bool hasDigest(std::string_view path) {
  const size_t dot = path.rfind('.'), dash = path.rfind('-', dot);
  if (!path.starts_with("assets/") || dot == std::string_view::npos || dash == std::string_view::npos)
    return false;
  const std::string_view digest = path.substr(dash + 1, dot - dash - 1);
  return digest.size() >= 8 && std::ranges::all_of(digest, [](char letter) {
           return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
         });
}

// SHA-256, in quotes as ETags have it.
std::string etagOf(std::string_view content) {
  return '"' + hexOf(digestOf(content)) + '"';
}

}  // namespace

Page::Page(std::span<const PageFile> files) {
  for (const PageFile& file : files) {
    files_["/" + std::string(file.path)] = {file.content, typeOf(file.path), etagOf(file.content),
                                            hasDigest(file.path)};
  }
}

const ServedFile* Page::find(std::string_view path) const {
  const auto found = files_.find(path);
  if (found != files_.end()) return &found->second;
  if (path.starts_with("/assets/")) return nullptr;
  const auto index = files_.find("/index.html");
  return index == files_.end() ? nullptr : &index->second;
}

}  // namespace tarcil::gateway
