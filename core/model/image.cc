#include "core/model/image.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tarcil {
namespace {

using Transport = ImageReference::Transport;

constexpr std::array<std::pair<std::string_view, Transport>, 3> kTransports = {
    {{"oci:", Transport::kOci}, {"oci-archive:", Transport::kOciArchive}, {"docker://", Transport::kDocker}}};

constexpr std::string_view kAlgorithm = "sha256:";
constexpr size_t kDigestDigits = 64;
constexpr size_t kMaxTag = 128;         // as registries take
constexpr size_t kMaxRepository = 255;  // as above

constexpr std::string_view kSmall = "abcdefghijklmnopqrstuvwxyz", kDigits = "0123456789";

bool isSmallOrDigit(char letter) {
  return kSmall.find(letter) != std::string_view::npos || kDigits.find(letter) != std::string_view::npos;
}

bool isLetterOrDigit(char letter) {
  return isSmallOrDigit(letter) || (letter >= 'A' && letter <= 'Z');
}

bool consistsOf(std::string_view text, bool (*isOne)(char), std::string_view others) {
  return std::ranges::all_of(text, [isOne, others](char letter) {
    return isOne(letter) || others.find(letter) != std::string_view::npos;
  });
}

bool isTag(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTag && text.front() != '.' && text.front() != '-' &&
         consistsOf(text, isLetterOrDigit, "._-");
}

// "name" or "a/b" of a repository: small letters, with separators between them alone.
bool isPartOfName(std::string_view part) {
  return !part.empty() && isSmallOrDigit(part.front()) && isSmallOrDigit(part.back()) &&
         consistsOf(part, isSmallOrDigit, "._-");
}

bool isRegistry(std::string_view part) {
  const size_t colon = part.find(':');
  const std::string_view host = part.substr(0, colon);
  if (host.empty() || !isLetterOrDigit(host.front()) || !consistsOf(host, isLetterOrDigit, ".-"))
    return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view port = part.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && port.find_first_not_of(kDigits) == std::string_view::npos;
}

// As the programs that copy images read it: the first part is a host where it looks like one.
bool looksLikeRegistry(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:") != std::string_view::npos;
}

bool isRepository(std::string_view name) {
  if (name.empty() || name.size() > kMaxRepository) return false;
  const size_t slash = name.find('/');
  if (slash != std::string_view::npos && looksLikeRegistry(name.substr(0, slash))) {
    if (!isRegistry(name.substr(0, slash))) return false;
    name.remove_prefix(slash + 1);
  }
  for (;;) {
    const size_t end = name.find('/');
    if (!isPartOfName(name.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    name.remove_prefix(end + 1);
  }
}

bool isPath(std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('/')) return false;
  if (std::ranges::any_of(path, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; }))
    return false;
  return (std::string(path) + '/').find("/../") == std::string::npos;
}

Error wrong(std::string_view what) {
  return invalid("has " + std::string(what) + "; " + ImageName().remedy());
}

}  // namespace

bool isImageDigest(std::string_view text) {
  if (!text.starts_with(kAlgorithm)) return false;
  text.remove_prefix(kAlgorithm.size());
  return text.size() == kDigestDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<ImageReference> parseImage(std::string_view text) {
  if (text.size() > ImageName::kMaxCharacters)
    return wrong("more than " + std::to_string(ImageName::kMaxCharacters) + " characters");
  ImageReference reference;
  const auto transport =
      std::ranges::find_if(kTransports, [text](const auto& entry) { return text.starts_with(entry.first); });
  if (transport == kTransports.end()) return wrong("none of the beginnings that say where it is");
  reference.transport = transport->second;
  text.remove_prefix(transport->first.size());
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    reference.digest = text.substr(at + 1);
    if (!isImageDigest(reference.digest))
      return wrong("a digest that is not sha256: and 64 small hex digits");
    text = text.substr(0, at);
  }
  // Before the last slash a colon would be a registry's port.
  const size_t slash = text.rfind('/');
  const size_t colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon != std::string_view::npos) {
    reference.tag = text.substr(colon + 1);
    if (!isTag(reference.tag)) return wrong("a tag that is none: letters, digits, dots, dashes, underscores");
    text = text.substr(0, colon);
  }
  reference.location = text;
  if (!reference.isLocal() && !isRepository(text))
    return wrong("a name that is none: small letters, digits, dots, dashes and underscores between slashes");
  // A program that copies images takes what comes after a colon for the tag.
  if (reference.isLocal() && (!isPath(text) || text.find(':') != std::string_view::npos))
    return wrong("a path that does not start with /, ends with one, or has .. or a colon in it");
  return reference;
}

std::string toString(const ImageReference& reference) {
  std::string text;
  for (const auto& [beginning, transport] : kTransports) {
    if (transport == reference.transport) text = beginning;
  }
  text += reference.location;
  if (!reference.tag.empty()) text += ":" + reference.tag;
  if (!reference.digest.empty()) text += "@" + reference.digest;
  return text;
}

std::string sourceOf(const ImageReference& reference, std::string_view digest) {
  ImageReference source = reference;
  source.digest.clear();
  if (!reference.isLocal() && !digest.empty()) {
    source.tag.clear();  // both together are refused
    source.digest = digest;
  }
  return toString(source);
}

}  // namespace tarcil
