// tarcil quality: the quality model as a calculator (docs/design.md). Needs no cluster.
#include "core/model/quality.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "formats/profile_file.h"
#include "formats/yaml_tree.h"

namespace tarcil {
namespace {

struct QualityFlags {
  std::string profile, contention, share;
  bool json = false;
};

struct Assessment {
  JobView job;
  Judgement encoded, componentwise;  // differ in their satisfaction only
};

// What an argument says: the JSON itself, or a file that holds it.
template <typename T>
T readArgument(const char* flag, const std::string& argument,
               Result<T> (*parse)(std::string_view, const std::string&)) {
  if (argument.empty()) throw badInput(std::string(flag) + ": is empty; write a file's name or JSON");
  if (argument.find_first_not_of(" \t\n") != std::string::npos &&
      argument[argument.find_first_not_of(" \t\n")] == '{') {
    return requireInput(parse(argument, flag));
  }
  return requireInput(parse(requireInput(readTextFile(argument, kMaxYamlBytes)), argument));
}

Assessment assess(const QualityFlags& flags) {
  const Profile profile = requireInput(readProfile(flags.profile));
  const Pressure contention = readArgument("--contention", flags.contention, &parsePressure);
  const Share share = flags.share.empty() ? fullShare() : readArgument("--share", flags.share, &parseShare);
  Assessment made;
  made.job = viewOn(profile, share, 1.0);
  made.encoded = judge(made.job, contention, QualityModel::kEncoded, 0);
  made.componentwise = judge(made.job, contention, QualityModel::kComponentwise, 0);
  return made;
}

Json jsonOf(const Assessment& made) {
  Json order = Json::array();
  for (uint8_t resource : made.job.order) order.push_back(kResourceNames[resource]);
  return {{"order", std::move(order)},
          {"t_w", {{"digits", digits(made.job.target)}, {"value", normalized(made.job.target)}}},
          {"u_h", {{"digits", digits(made.encoded.encoded)}, {"value", uH(made.encoded)}}},
          {"q", {{"corrected", q(made.encoded)}, {"literal", literalQ(made.job, made.encoded)}}},
          {"satisfaction",
           {{"encoded", made.encoded.satisfaction}, {"componentwise", made.componentwise.satisfaction}}}};
}

std::string textOf(const Assessment& made) {
  std::string order;
  for (uint8_t resource : made.job.order)
    order.append(order.empty() ? "" : ", ").append(kResourceNames[resource]);
  const auto withDigits = [](double value, Encoded encoded) {
    return fixed(value, 6) + "  (" + digits(encoded) + ")";
  };
  return aligned({{"Order", order},
                  {"T_W", withDigits(normalized(made.job.target), made.job.target)},
                  {"U_H", withDigits(uH(made.encoded), made.encoded.encoded)},
                  {"Q", fixed(q(made.encoded), 6)},
                  {"Q literal", fixed(literalQ(made.job, made.encoded), 6)},
                  {"S encoded", fixed(made.encoded.satisfaction, 6)},
                  {"S componentwise", fixed(made.componentwise.satisfaction, 6)}});
}

int quality(const QualityFlags& flags) {
  const Assessment made = assess(flags);
  if (flags.json) {
    printJson(jsonOf(made));
  } else {
    print(textOf(made));
  }
  return kExitDone;
}

}  // namespace

void addQuality(CLI::App& app) {
  addCommand(
      app, "quality",
      {"quality [OPTIONS] --profile FILE --contention FILE|JSON",
       "Compute what a slot is worth to a job, offline.",
       "Given what a job causes and tolerates and the contention of a slot, computes: the order of the "
       "job's resources by demand; T_W, how demanding it is, with the 20 digits of its encoded demand; U_H, "
       "how quiet the slot is for it, with the 20 digits of the encoded contention; Q, how tightly the slot "
       "fits (and literally as the paper prints it); S, how far it satisfies the job, by both models. All "
       "in [0, 1].\n\n"
       "The contention is the effective one: shares and background included, without a safety margin.",
       "  tarcil quality --profile p.yaml \\\n"
       "      --contention '{\"memory_bandwidth\": 8, \"llc\": 3}'\n"
       "  tarcil quality --json --profile p.yaml --contention c.json\n",
       "  0  done\n  2  bad arguments or files\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<QualityFlags>();
        command.add_option("--profile", flags->profile, "The job's profile (YAML or JSON).")
            ->required()
            ->type_name("FILE");
        command
            .add_option("--contention", flags->contention,
                        "Pressures 0 to 99 by resource, missing ones 0: a file, or the JSON itself.")
            ->required()
            ->type_name("FILE|JSON");
        command
            .add_option("--share", flags->share,
                        "Shares of a platform by resource, missing ones 1, which scale the job's demand: a "
                        "file, or the JSON itself.")
            ->type_name("FILE|JSON");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return quality(*flags); });
      });
}

}  // namespace tarcil
