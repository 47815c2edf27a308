#include "formats/after_field.h"

#include <string_view>

namespace tarcil {
namespace {

std::optional<NamedJob> jobIn(const YamlValue& value) {
  auto text = value.text();
  if (!text) return std::nullopt;
  if (text->empty()) {
    value.refuse("write a job's number, or name:NAME or id:ID");
    return std::nullopt;
  }
  return NamedJob{std::move(*text), value.node().place, value.field()};
}

// One, or a list of them.
std::vector<NamedJob> jobsIn(const YamlValue& value) {
  std::vector<NamedJob> jobs;
  if (value.node().kind == YamlNode::Kind::kScalar) {
    if (auto job = jobIn(value)) jobs.push_back(std::move(*job));
    return jobs;
  }
  const auto items = value.list();
  if (!items) return jobs;
  for (const YamlValue& item : *items) {
    if (auto job = jobIn(item)) jobs.push_back(std::move(*job));
  }
  return jobs;
}

}  // namespace

NamedAfter afterIn(const YamlValue& value, After::Unmet& unmet) {
  NamedAfter after;
  if (!value.isMapping()) {
    after.ok = jobsIn(value);
    return after;
  }
  auto mapping = value.mapping();
  if (!mapping) return after;
  if (auto ok = mapping->take("ok")) after.ok = jobsIn(*ok);
  if (auto any = mapping->take("any")) after.any = jobsIn(*any);
  if (auto failed = mapping->take("failed")) after.failed = jobsIn(*failed);
  if (auto each = mapping->take("each")) after.each = jobIn(*each);
  if (auto choice = mapping->take("unmet")) {
    const auto name = choice->oneOf({kUnmetNames[0].first, kUnmetNames[1].first});
    for (const auto& [known, what] : kUnmetNames) {
      if (name == known) unmet = what;
    }
  }
  mapping->refuseOthers();
  return after;
}

}  // namespace tarcil
