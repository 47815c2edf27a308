#include "image/arguments.h"

#include <sstream>
#include <type_traits>

#include "core/base/whole_number.h"

namespace tarcil::image {
namespace {

// Calls visit(name, member) for each of the plain ones.
template <typename Visit>
void forEachNumber(auto& arguments, const Visit& visit) {
  visit("uid", arguments.sandbox.uid);
  visit("gid", arguments.sandbox.gid);
  visit("owner", arguments.sandbox.owner);
  visit("file-bytes", arguments.sandbox.maxFileBytes);
  visit("bytes", arguments.request.bounds.bytes);
  visit("entries", arguments.request.bounds.entries);
  visit("reserve", arguments.request.reserve);
}
template <typename Visit>
void forEachText(auto& arguments, const Visit& visit) {
  visit("stage", arguments.sandbox.stage);
  visit("point", arguments.sandbox.point);
  visit("digest", arguments.request.digest);
  visit("skopeo", arguments.request.skopeo);
  visit("umoci", arguments.request.umoci);
}

}  // namespace

std::vector<std::string> encodeArguments(const Arguments& arguments) {
  std::vector<std::string> words;
  const auto add = [&words](const std::string& name, const std::string& value) {
    words.push_back(std::string(name).append("=").append(value));
  };
  forEachNumber(arguments, [&add](const char* name, auto value) { add(name, std::to_string(value)); });
  forEachText(arguments, add);
  add("image", toString(arguments.request.reference));
  for (const std::string& digest : arguments.request.have) add("have", digest);
  for (const std::string& host : arguments.request.insecureRegistries) add("insecure", host);
  return words;
}

Result<Arguments> parseArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    bool known = true;
    if (name == "image") {
      const auto reference = parseImage(value);
      if (!reference) return reference.error();
      arguments.request.reference = *reference;
    } else if (name == "have") {
      arguments.request.have.insert(value);
    } else if (name == "insecure") {
      arguments.request.insecureRegistries.push_back(value);
    } else {
      known = false;
      forEachText(arguments, [&](const std::string& one, std::string& member) {
        if (one != name) return;
        member = value;
        known = true;
      });
      forEachNumber(arguments, [&](const std::string& one, auto& member) {
        const auto number = wholeNumberIn<std::remove_cvref_t<decltype(member)>>(value);
        if (one != name || !number) return;
        member = *number;
        known = true;
      });
    }
    if (!known) return invalid("tarcil-image is for monitors alone, of the same build: " + word);
  }
  return arguments;
}

std::string encodeFetched(const Fetched& fetched) {
  return fetched.digest + (fetched.isNew ? " new " : " have ") + std::to_string(fetched.bytes) + "\n";
}

std::optional<Fetched> decodeFetched(const std::string& text) {
  std::istringstream in(text);
  Fetched fetched;
  std::string kind;
  if (!(in >> fetched.digest >> kind >> fetched.bytes) || !isImageDigest(fetched.digest)) return std::nullopt;
  fetched.isNew = kind == "new";
  return fetched;
}

}  // namespace tarcil::image
