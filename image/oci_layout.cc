#include "image/oci_layout.h"

#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/hex.h"
#include "core/model/image.h"

namespace tarcil::image {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Deeper than anything that is read; what is below that is left out.
constexpr int kMaxDepth = 32;

// Null where the text is no JSON.
Json jsonIn(std::string_view text) {
  const auto isNear = [](int depth, Json::parse_event_t, const Json&) { return depth <= kMaxDepth; };
  Json json = Json::parse(text, isNear, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

// Null where `json` is no object or has none of this name.
const Json& member(const Json& json, const char* name) {
  static const Json kNone;
  if (!json.is_object()) return kNone;
  const auto found = json.find(name);
  return found == json.end() ? kNone : *found;
}

std::string textIn(const Json& json) {
  return json.is_string() ? json.get<std::string>() : "";
}

bool hasNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Result<Blob> blobIn(const Json& json, std::string_view what) {
  Blob blob{textIn(member(json, "digest")), 0};
  const Json& bytes = member(json, "size");
  if (!isImageDigest(blob.digest) || !bytes.is_number_unsigned())
    return invalid(std::string(what) + " has no digest by sha256, or no size");
  blob.bytes = bytes.get<uint64_t>();
  return blob;
}

// Strings of a list; kInvalid: it is another thing. Nothing is an empty list.
Result<std::vector<std::string>> wordsIn(const Json& json, std::string_view what) {
  std::vector<std::string> words;
  if (json.is_null()) return words;
  const Error wrong = invalid("configuration: " + std::string(what) + " is no list of texts");
  if (!json.is_array()) return wrong;
  for (const Json& word : json) {
    words.push_back(textIn(word));
    if (!word.is_string() || hasNul(words.back())) return wrong;
  }
  return words;
}

class Sha256 final {
 public:
  Sha256() { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }

  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string digest() {
    std::array<uint8_t, 32> sum{};
    EVP_DigestFinal_ex(context_.get(), sum.data(), nullptr);
    return "sha256:" + hexOf(sum);
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

}  // namespace

std::string digestOf(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.digest();
}

Result<std::string> readJsonFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return notFound(path + " cannot be read");
  std::string text(kMaxJsonBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxJsonBytes) return invalid(path + " is longer than 4 MiB");
  return text;
}

Result<Blob> manifestIn(std::string_view index) {
  const Json json = jsonIn(index);
  const Json& list = member(json, "manifests");
  if (!list.is_array() || list.size() != 1) return invalid("index.json names no image, or several");
  return blobIn(list.front(), "index.json");
}

std::vector<std::string> manifestsListedIn(std::string_view text) {
  std::vector<std::string> digests;
  const Json json = jsonIn(text);
  const Json& list = member(json, "manifests");
  if (!list.is_array()) return digests;
  for (const Json& one : list) digests.push_back(textIn(member(one, "digest")));
  return digests;
}

Result<Manifest> parseManifest(std::string_view text, uint64_t maxBytes) {
  const Json json = jsonIn(text);
  Manifest manifest;
  auto config = blobIn(member(json, "config"), "its manifest's configuration");
  if (!config) return config.error();
  if (config->bytes > kMaxJsonBytes) return invalid("its configuration is longer than 4 MiB");
  manifest.config = *config;
  const Json& layers = member(json, "layers");
  if (!layers.is_array()) return invalid("its manifest has no list of layers");
  if (layers.size() > kMaxLayers) {
    return invalid("has " + std::to_string(layers.size()) + " layers, at most " + std::to_string(kMaxLayers) +
                   " are taken; make it with fewer");
  }
  uint64_t bytes = 0;
  for (const Json& entry : layers) {
    auto layer = blobIn(entry, "a layer of its manifest");
    if (!layer) return layer.error();
    if (layer->bytes > maxBytes - bytes) {
      return invalid("has layers of more than " + std::to_string(maxBytes) +
                     " bytes, the most that an image may have here; make a smaller one");
    }
    bytes += layer->bytes;
    manifest.layers.push_back(*layer);
  }
  return manifest;
}

Result<ImageConfig> parseConfig(std::string_view text) {
  const Json json = jsonIn(text);
  if (!json.is_object()) return invalid("its configuration is not JSON");
  const Json& config = member(json, "config");
  ImageConfig result;
  for (const char* name : {"Entrypoint", "Cmd"}) {
    auto words = wordsIn(member(config, name), name);
    if (!words) return words.error();
    result.command.insert(result.command.end(), words->begin(), words->end());
  }
  const auto env = wordsIn(member(config, "Env"), "Env");
  if (!env) return env.error();
  for (const std::string& variable : *env) {
    const size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos)
      return invalid("configuration: Env has an entry that is no variable");
    const std::string name = variable.substr(0, equals);
    if (takesFromImage(name)) result.env[name] = variable.substr(equals + 1);
  }
  const std::string workdir = textIn(member(config, "WorkingDir"));
  if (hasNul(workdir) || (!workdir.empty() && !workdir.starts_with('/')))
    return invalid("configuration: WorkingDir does not start with /");
  result.workdir = workdir;
  return result;
}

std::string blobPath(const std::string& layout, const Blob& blob) {
  return layout + "/blobs/sha256/" + blob.digest.substr(blob.digest.find(':') + 1);
}

Status verifyBlob(const std::string& layout, const Blob& blob) {
  const std::string path = blobPath(layout, blob);
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return invalid("lacks " + blob.digest);
  const uint64_t there = fs::file_size(path, error);
  if (error || there != blob.bytes) {
    return invalid("has " + std::to_string(there) + " bytes of " + blob.digest + ", which has " +
                   std::to_string(blob.bytes));
  }
  std::ifstream in(path, std::ios::binary);
  Sha256 sum;
  std::array<char, 64 << 10> piece;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0)
    sum.add({piece.data(), static_cast<size_t>(in.gcount())});
  if (const std::string digest = sum.digest(); digest != blob.digest)
    return invalid("has content of digest " + digest + " where its manifest says " + blob.digest);
  return {};
}

}  // namespace tarcil::image
