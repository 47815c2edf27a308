// Reads a layer's archive from its beginning to its end, by libarchive.
#pragma once

#include <string>

#include "core/base/result.h"
#include "image/layer_rules.h"

namespace tarcil::image {

// Holds each entry of the archive `path`, a tar file, plain or compressed by gzip or zstd, against `rules`.
// kInvalid: what they refuse, or that it is no such archive, or ends early.
Status checkLayer(const std::string& path, LayerRules& rules);

}  // namespace tarcil::image
