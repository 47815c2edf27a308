#include "formats/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/job_file.h"

namespace tarcil::parameters_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Result<JobFile> parse(std::string_view text, const ChosenValues& chosen = {}) {
  JobFileOptions options;
  options.parameters = chosen;
  return parseJob(text, "job.yaml", ".", options);
}

JobSpec jobOf(std::string_view text, const ChosenValues& chosen = {}) {
  auto job = parse(text, chosen);
  EXPECT_TRUE(job.ok()) << job.error().message;
  return job ? job->spec : JobSpec();
}

std::string problemOf(std::string_view text, const ChosenValues& chosen = {}) {
  const auto job = parse(text, chosen);
  return job ? "" : job.error().message;
}

// --- What is put where ---

constexpr const char* kTemplate = R"(
parameters:
  input:
  n: 4
  mode: fast
name: "sort-{{mode}}"
command: [sort, "{{input}}", "--mode={{ mode }}", "{{n}}{{n}}"]
env: {MODE: "{{mode}}", INPUT: "{{input}}"}
tasks: "{{n}}"
timeout: "{{n}}m"
limits: {memory: "{{n}}GiB"}
)";

TEST(Parameters, TakeTheirDefaultsOrWhatIsChosen) {
  const JobSpec usual = jobOf(kTemplate, {{"input", "a.txt"}});
  EXPECT_EQ(usual.name, "sort-fast");
  EXPECT_THAT(usual.command, ElementsAre("sort", "a.txt", "--mode=fast", "44"));
  EXPECT_EQ(usual.env.at("MODE"), "fast");
  EXPECT_EQ(usual.tasks, 4u);
  EXPECT_EQ(usual.timeout, std::chrono::minutes(4));
  EXPECT_EQ(usual.limits.memoryBytes, 4ull << 30);

  const JobSpec other = jobOf(kTemplate, {{"input", ""}, {"n", "7"}, {"mode", "a b"}});
  EXPECT_EQ(other.name, "sort-a b");
  EXPECT_THAT(other.command, ElementsAre("sort", "", "--mode=a b", "77"));
  EXPECT_EQ(other.tasks, 7u);
}

TEST(Parameters, AWholeScalarIsWhatItsValueReadsAs) {
  EXPECT_TRUE(jobOf("parameters: {h: true}\ncommand: [x]\nhold: '{{h}}'").hold);
  EXPECT_EQ(jobOf("parameters: {t: 0.9}\ncommand: [x]\nquality: {target: '{{t}}'}").target, 0.9);
  EXPECT_EQ(jobOf("parameters: {a: '5'}\ncommand: ['{{a}}']").command.front(), "5");
  EXPECT_THAT(problemOf("parameters: {n: '5'}\ncommand: [x]\ntasks: '{{n}}'"),
              HasSubstr("tasks: is '5' in quotes; write a whole number"));
  EXPECT_THAT(problemOf("parameters: {n: 5}\ncommand: [x]\ntasks: '{{{{{{n}}'"),
              HasSubstr("tasks: is '{{5' in quotes; write a whole number"));
}

TEST(Parameters, ValuesBringNoStructureAndNoParameters) {
  const JobSpec job = jobOf("parameters: {a: x, b: y}\ncommand: [echo, '{{a}}', '{{b}}']\nname: n",
                            {{"a", "[1, 2]\ntasks: 9"}, {"b", "{{a}}"}});
  EXPECT_THAT(job.command, ElementsAre("echo", "[1, 2]\ntasks: 9", "{{a}}"));
  EXPECT_EQ(job.tasks, 1u);
}

TEST(Parameters, BracesOfOthersAreLeftAlone) {
  const JobSpec job = jobOf(
      "parameters: {a: x}\n"
      "command: [sh, -c, 'echo ${HOME} {item} {index} {{{{a}} \"{n:{{a}}}\" }}']");
  EXPECT_EQ(job.command[2], "echo ${HOME} {item} {index} {{a}} \"{n:x}\" }}");
}

TEST(Parameters, AFileWithoutThemIsReadAsItIs) {
  EXPECT_THAT(jobOf("command: [echo, '{{a}}', '{{{{', '{{']").command,
              ElementsAre("echo", "{{a}}", "{{{{", "{{"));
}

TEST(Parameters, StandWhereAnAliasRepeatsThem) {
  const JobSpec job = jobOf("parameters: {a: x}\ncommand: &c [echo, '{{a}}']\nenv: {A: &v '{{a}}', B: *v}\n");
  EXPECT_EQ(job.env.at("A"), "x");
  EXPECT_EQ(job.env.at("B"), "x");
}

TEST(Parameters, MayStandInJson) {
  EXPECT_EQ(jobOf(R"({"parameters": {"n": 3}, "command": ["x"], "tasks": "{{n}}"})").tasks, 3u);
}

// --- What is refused ---

TEST(Parameters, ThatAreNotDeclaredAreRefusedWithThoseThatAre) {
  EXPECT_EQ(
      problemOf("parameters: {epochs: 5, rate: 1}\ncommand: [x, '{{epochs}}', '{{rate}}']", {{"epoch", "7"}}),
      "job.yaml:1:13: parameters: --set epoch: the file declares no such parameter; did you mean epochs? "
      "declared are: epochs, rate");
  EXPECT_EQ(problemOf("parameters: {}\ncommand: [x]", {{"n", "7"}}),
            "job.yaml:1:13: parameters: --set n: the file declares no such parameter; none is declared");
  EXPECT_EQ(problemOf("name: a\ncommand: [x]", {{"n", "7"}}),
            "job.yaml:1:1: parameters: is missing, so there is nothing that --set n could set; declare it "
            "there, or "
            "leave --set out");
  EXPECT_EQ(
      problemOf("parameters: {epochs: 5}\ncommand: [x, '{{epochs}}',\n  'a {{epoch}}']"),
      "job.yaml:3:3: text: '{{epoch}}' names no parameter of this file; did you mean epochs? declared are: "
      "epochs, or write {{{{ for {{ itself");
}

TEST(Parameters, ThatHaveNoValueAreRefusedWhereTheyAreDeclared) {
  EXPECT_EQ(
      problemOf(
          "parameters:\n  n: 1\n  input:\n  output: null\ncommand: ['{{n}}', '{{input}}', '{{output}}']",
          {{"output", "o"}}),
      "job.yaml:3:3: parameters.input: has no value; write --set input=VALUE, or a default here");
}

TEST(Parameters, ThatAreNotUsedAreRefused) {
  EXPECT_EQ(problemOf("parameters:\n  n: 1\ncommand: [x]\nname: '{{{{n}}'"),
            "job.yaml:2:6: parameters.n: is not used; write {{n}} where its value belongs, or leave it out");
}

TEST(Parameters, ValuesThatDoNotFitAreSaidWithTheirNames) {
  const std::string file =
      "parameters:\n  n: none\n  m: x\ncommand: [x]\ntasks: '{{n}}'\ntimeout: '{{n}}{{m}}'\n";
  EXPECT_EQ(problemOf(file, {{"m", "y"}}),
            "job.yaml:5:8: tasks: is 'none'; write a whole number from 1 to 100000 ({{n}} is 'none' by "
            "default in line "
            "2)\n"
            "job.yaml:6:10: timeout: 'noney' is not a duration; write a number with a unit, for example 10s "
            "or 500ms "
            "({{n}} is 'none' by default in line 2, {{m}} is 'y' by --set)");
  EXPECT_THAT(
      problemOf("parameters: {c: x}\ncommand: [x]\nplacement: {constraints: ['{{c}}']}", {{"c", "gpu ~ 1"}}),
      HasSubstr("({{c}} is 'gpu ~ 1' by --set)"));
}

TEST(Parameters, OfManyInOneScalarSomeAreNamed) {
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "{{n}}";
  EXPECT_THAT(problemOf("parameters: {n: 1}\ncommand: [x]\ntasks: '" + many + "'"),
              testing::EndsWith(
                  "({{n}} is '1' by default in line 1, {{n}} is '1' by default in line 1, {{n}} is '1' by "
                  "default in line 1, ...)"));
}

TEST(Parameters, NeedQuotesAroundTheirBraces) {
  EXPECT_EQ(problemOf("parameters: {n: 1}\ncommand: [x]\ntasks: {{n}}"),
            "job.yaml:3:8: {{n}}: is a mapping for YAML; write it in quotes: \"{{n}}\"");
  EXPECT_EQ(problemOf("parameters: {n: 1}\ncommand: [x, 'a {{n']"),
            "job.yaml:2:14: text: has {{ without }} behind it; write {{{{ for {{ itself");
}

TEST(Parameters, DeclarationsAreNamesWithSingleValues) {
  for (const char* wrong : {"5", "[a]", "''"}) {
    EXPECT_THAT(problemOf("parameters: " + std::string(wrong) + "\ncommand: [x]"),
                StartsWith("job.yaml:1:13: parameters: is "));
  }
  EXPECT_EQ(problemOf("parameters: {a: [1]}\ncommand: ['{{a}}']"),
            "job.yaml:1:17: parameters.a: is a list; write one value as default, or nothing where --set has "
            "to give "
            "one");
  for (const std::string& name :
       {std::string("'a b'"), std::string("1a"), std::string("''"), std::string(65, 'a')}) {
    EXPECT_THAT(problemOf("parameters: {" + name + ": 1}\ncommand: [x]"),
                HasSubstr("has no name of a parameter; "));
  }
  EXPECT_THAT(problemOf("parameters: {a: 1, a: 2}\ncommand: ['{{a}}']"),
              HasSubstr("parameters.a: is given twice"));
  EXPECT_THAT(problemOf("parameters: {a: 1}\nparameters: {b: 1}\ncommand: ['{{a}}']"),
              HasSubstr("parameters: is given twice"));
}

TEST(Parameters, AreBounded) {
  std::string many = "parameters:\n", uses = "command: [x";
  for (size_t i = 0; i < kMaxParameters; ++i) {
    many.append("  p" + std::to_string(i) + ": a\n");
    uses.append(", '{{p" + std::to_string(i) + "}}'");
  }
  EXPECT_EQ(jobOf(many + uses + "]").command.size(), kMaxParameters + 1);
  EXPECT_THAT(problemOf(many + "  q: a\n" + uses + "]"), HasSubstr("has 1001 entries; write at most 1000"));
  EXPECT_THAT(problemOf(many + uses + ", '{{q}}']"), HasSubstr("p115, ..., or write"));

  const std::string longest(kMaxParameterBytes, 'v');
  EXPECT_THAT(problemOf("parameters: {a: '" + longest + "v'}\ncommand: ['{{a}}']"),
              HasSubstr("is longer than 64KiB"));
  std::string often = "parameters: {a: }\ncommand: [x]\nfiles:\n";
  for (size_t i = 0; i <= kMaxSubstitutedBytes / kMaxParameterBytes; ++i) often.append("- '{{a}}'\n");
  EXPECT_THAT(
      problemOf(often, {{"a", longest}}),
      testing::EndsWith("text: values of parameters take up more than 4MiB up to here; keep data in files"));
}

// --- What is chosen ---

TEST(ChosenValues, AreNamesWithTexts) {
  ChosenValues chosen;
  EXPECT_TRUE(addChosenValue("a=1", chosen).ok());
  EXPECT_TRUE(addChosenValue("b=x=y=", chosen).ok());
  EXPECT_TRUE(addChosenValue("c-1_=", chosen).ok());
  EXPECT_EQ(chosen, (ChosenValues{{"a", "1"}, {"b", "x=y="}, {"c-1_", ""}}));

  const auto problem = [&chosen](const std::string& pair) {
    const Status added = addChosenValue(pair, chosen);
    return added ? "" : added.error().message;
  };
  EXPECT_EQ(problem("a=2"), "a is given twice; keep one");
  EXPECT_EQ(problem("d"), "'d' is no pair; write NAME=VALUE");
  EXPECT_THAT(problem("=1"), StartsWith("'' is no name of a parameter; write a letter first"));
  EXPECT_THAT(problem("a b=1"), StartsWith("'a b' is no name of a parameter; "));
  EXPECT_EQ(problem("d=\xff"), "the value of d is not UTF-8 text");
  EXPECT_EQ(problem("d=" + std::string(kMaxParameterBytes + 1, 'x')),
            "the value of d is longer than 64KiB; keep data in files");
  EXPECT_EQ(chosen.size(), 3u);
}

}  // namespace tarcil::parameters_test
