// What an image says of itself: index.json, manifest and configuration, which are told apart by who reads
// them.
#include "core/model/image.h"
#include "core/model/image_config.h"
#include "image/oci_layout.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

constexpr uint64_t kMaxBytes = 1'000'000;

void checkConfig(const std::string& text) {
  const auto config = image::parseConfig(text);
  if (!config) return;
  const auto kept = decodeImageConfig(encodeImageConfig(*config));
  require(kept.ok() && *kept == *config, "a configuration is not kept as it was read");
  for (const auto& [name, value] : config->env)
    require(takesFromImage(name), "a variable is not the image's");
}

void checkManifest(const std::string& text) {
  const auto manifest = image::parseManifest(text, kMaxBytes);
  if (!manifest) return;
  uint64_t bytes = 0;
  for (const image::Blob& layer : manifest->layers) {
    require(isImageDigest(layer.digest), "a layer has no digest");
    require(layer.bytes <= kMaxBytes - bytes, "layers have more bytes than they may");
    bytes += layer.bytes;
  }
  require(manifest->layers.size() <= image::kMaxLayers, "there are more layers than there may be");
}

void check(const Bytes& input) {
  const std::string text = textOf(input);
  checkConfig(text);
  checkManifest(text);
  const auto named = image::manifestIn(text);
  require(!named || isImageDigest(named->digest), "an image has no digest");
  image::manifestsListedIn(text);
  if (const auto kept = decodeImageConfig(text))
    require(*decodeImageConfig(encodeImageConfig(*kept)) == *kept, "what is kept is not read again the same");
}

}  // namespace

const Target kImage = {"image", check, noSeeds, mutatedText<mutatedTree>};

}  // namespace tarcil::fuzz
