#pragma once
#include <optional>
#include "core/model/quality.h"
#include "core/model/contention.h"
namespace tarcil { struct QualitySettings { double target=0.95; double confidence=0.999; uint32_t cap=32; uint32_t floor=8; std::optional<uint32_t> ratio; QualityModel model=QualityModel::kComponentwise; ContentionModel contention=ContentionModel::kSum; int margin=0; int noiseFloor=2; bool protectNeighbours=true; uint64_t version=0; bool operator==(const QualitySettings&) const = default; }; }
