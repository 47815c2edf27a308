#include "cli/output/decision.h"

#include <algorithm>

#include "cli/output/promise.h"
#include "cli/output/render.h"
#include "core/model/encoding.h"
#include "core/model/quality.h"
#include "core/state/vacancy.h"

namespace tarcil {
namespace {

std::vector<RuIndex> unitsOf(const Candidate& candidate) {
  return {candidate.rus.begin(), candidate.rus.begin() + candidate.rusCount};
}

// U_H of the candidate as it was judged, with the margin.
double uHOf(const Candidate& candidate, const Explanation& why, const Profile& profile) {
  Pressure interference = candidate.contention;
  for (uint8_t& pressure : interference) pressure = withMargin(pressure, why.margin);
  return normalized(kEncodedMax - encode(interference, orderOf(demandOf(profile.tolerated))));
}

Json jsonOfSlack(const Pressure& slack) {
  Json json = Json::object();
  for (size_t i = 0; i < slack.size(); ++i) {
    json[std::string(kResourceNames[i])] = slack[i] == Vacancy::kUnbounded ? Json() : Json(slack[i]);
  }
  return json;
}

Json jsonOf(const Candidate& candidate, const Explanation& why, const Profile& profile,
            const ServerNames& names) {
  const ServerName server = serverIn(names, candidate.server);
  return {{"server", server.name},
          {"rus", unitsOf(candidate)},
          {"contention", jsonByResource(candidate.contention)},
          {"u_h", uHOf(candidate, why, profile)},
          {"q", candidate.q},
          {"s", candidate.s},
          {"cost", candidate.cost},
          {"platform", server.platform},
          {"platform_factor", platformFactor(profile, server.platform)},
          {"slack", jsonOfSlack(candidate.slack)},
          {"after", name(candidate.after)}};
}

Json jsonOf(const std::array<uint32_t, kDropReasons>& dropped) {
  Json counts = Json::object();
  for (size_t reason = 0; reason < dropped.size(); ++reason) {
    if (dropped[reason] > 0) counts[dropName(reason)] = dropped[reason];
  }
  return counts;
}

std::string percent(double value) {
  return fixed(100 * value, 1) + " %";
}

std::string droppedText(const Explanation& why) {
  std::string text;
  for (size_t reason = 0; reason < why.dropped.size(); ++reason) {
    if (why.dropped[reason] == 0) continue;
    text.append(text.empty() ? "" : ", ")
        .append(std::to_string(why.dropped[reason]) + " ")
        .append(dropName(reason));
  }
  return text;
}

// The resources that the profile makes demands on, the most critical first.
std::vector<size_t> demanded(const Profile& profile) {
  const Pressure demand = demandOf(profile.tolerated);
  std::vector<size_t> order;
  for (uint8_t i : orderOf(demand)) {
    if (demand[i] > 0) order.push_back(i);
  }
  return order;
}

std::string contentionText(const Candidate& candidate, const std::vector<size_t>& matters) {
  std::string text;
  for (size_t i : matters) {
    text.append(text.empty() ? "" : " ")
        .append(kResourceNames[i])
        .append("=" + std::to_string(candidate.contention[i]));
  }
  return text;
}

// Where the residents bear least: "llc 12".
std::string slackText(const Candidate& candidate) {
  const auto least = std::min_element(candidate.slack.begin(), candidate.slack.end());
  if (*least == Vacancy::kUnbounded) return "any";
  const auto index = static_cast<size_t>(least - candidate.slack.begin());
  return std::string(kResourceNames[index]) + " " + std::to_string(*least);
}

}  // namespace

ServerName serverIn(const ServerNames& names, ServerId id) {
  const auto found = names.find(id);
  return found == names.end() ? ServerName{id, "?", "?"} : found->second;
}

Json jsonOf(const Explanation& why, const Profile& profile, const ServerNames& names, size_t candidates) {
  Json best = Json::array();
  for (size_t i = 0; i < std::min(candidates, why.best.size()); ++i)
    best.push_back(jsonOf(why.best[i], why, profile, names));
  return {{"p", shareAcceptable(why)},   {"ratio", ratio(why)},
          {"drawn", why.drawn},          {"limit", why.limit},
          {"guarantee", guarantee(why)}, {"dropped", jsonOf(why.dropped)},
          {"best", std::move(best)},     {"seed", why.seed},
          {"price", why.price},          {"waiting_jobs", why.waitingJobs}};
}

Json jsonOfNoDecision() {
  return {{"p", nullptr},         {"ratio", nullptr},          {"drawn", nullptr},      {"limit", nullptr},
          {"guarantee", nullptr}, {"dropped", Json::object()}, {"best", Json::array()}, {"seed", nullptr},
          {"price", nullptr},     {"waiting_jobs", nullptr}};
}

Json jsonOfChosen(const std::string& server, const std::vector<RuIndex>& rus, double q, double s) {
  return {{"server", server}, {"rus", rus}, {"q", q}, {"s", s}};
}

// "0.62: a slot worth that to the job, less what neighbours lose, is taken; 14 jobs waited"; empty where only
// acceptable ones were.
std::string priceText(const Explanation& why) {
  if (why.price >= 1) return "";
  const std::string worth = why.price < 0.005
                                ? "0: any slot worth more to the job than neighbours lose is taken"
                                : fixed(why.price, 2) +
                                      ": a slot worth that to the job, less what "
                                      "neighbours lose, is taken";
  return worth + "; " + (why.waitingJobs == 0 ? "no job" : counted(why.waitingJobs, "job")) + " waited";
}

Fields fieldsOf(const Explanation& why) {
  Fields fields = {{"Slots drawn", std::to_string(why.drawn) + " (" + fixed(ratio(why), 1) +
                                       " per task), at most " + std::to_string(why.limit)},
                   {"Acceptable", percent(shareAcceptable(why)) + " of them (p)"},
                   {"Guarantee", promiseText(why)},
                   {"Turned down", droppedText(why)}};
  if (const std::string price = priceText(why); !price.empty()) fields.emplace_back("Price", price);
  fields.emplace_back("Seed", std::to_string(why.seed));
  return fields;
}

std::string sensitivityText(const Profile& profile) {
  std::string text;
  for (size_t i : demanded(profile)) text.append(text.empty() ? "" : ", ").append(kResourceNames[i]);
  if (profile.isAssumed) text += "; assumed, until " + profile.application + " is measured";
  return text.empty() ? "nothing: any place will do" : text;
}

std::string candidatesText(const Explanation& why, const Profile& profile, const ServerNames& names,
                           size_t candidates) {
  const std::vector<size_t> matters = demanded(profile);
  Table table(
      {"Best", "Platform", "RUs", "Q", "S", "Costs", "U_H", "Behind by", "Least slack", "Contention"});
  for (size_t i = 0; i < std::min(candidates, why.best.size()); ++i) {
    const Candidate& candidate = why.best[i];
    const ServerName server = serverIn(names, candidate.server);
    table.add({server.name, server.platform, ranges(unitsOf(candidate)), fixed(candidate.q, 4),
               fixed(candidate.s, 4), fixed(candidate.cost, 4), fixed(uHOf(candidate, why, profile), 4),
               candidate.after == TieBreak::kNone ? "" : name(candidate.after), slackText(candidate),
               contentionText(candidate, matters)});
  }
  return table.empty() ? "" : table.text();
}

}  // namespace tarcil
