#include "monitor/container/oci_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::oci_bundle_test {

using testing::HasSubstr;
using testing::Not;

Result<Bundle> parsed(const std::string& text) {
  return parseBundle(text, "config.json", "/images/b");
}

TEST(Bundle, IsARootFileSystemAndVariables) {
  const auto bundle = parsed(R"({"ociVersion": "1.0.2", "hooks": {"prestart": [{"path": "/bin/evil"}]},
    "process": {"args": ["sh"], "env": ["PATH=/opt/bin:/bin", "A=x=y", "B="], "user": {"uid": 0}},
    "root": {"path": "rootfs"}, "mounts": [{"destination": "/host", "type": "bind", "source": "/"}]})");
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  EXPECT_EQ(*bundle, (Bundle{"/images/b/rootfs", {{"PATH", "/opt/bin:/bin"}, {"A", "x=y"}, {"B", ""}}}));
  EXPECT_EQ(parsed(R"({"root": {"path": "/srv/x"}})")->root, "/srv/x");
}

TEST(Bundle, SaysWhatIsWrongWithAConfiguration) {
  for (const char* text : {"", "{", "[1", "\x01", "{\"root\": }"})
    EXPECT_THAT(parsed(text).error().message, HasSubstr("config.json: is not JSON")) << text;
  for (const char* text : {"{}", "[]", "3", "null", R"({"root": 3})", R"({"root": {"path": ""}})",
                           R"({"root": {"path": ["x"]}})", R"({"root": "rootfs"})"})
    EXPECT_THAT(parsed(text).error().message, HasSubstr("root.path: is missing")) << text;
  for (const char* env : {"3", "{}", "\"A=b\""})
    EXPECT_THAT(
        parsed(R"({"root": {"path": "r"}, "process": {"env": )" + std::string(env) + "}}").error().message,
        HasSubstr("process.env: is no list"))
        << env;
  for (const char* entry : {"3", "\"\"", "\"A\"", "\"=b\"", "[]", R"("A=\u0000")"})
    EXPECT_THAT(parsed(R"({"root": {"path": "r"}, "process": {"env": [)" + std::string(entry) + "]}}")
                    .error()
                    .message,
                HasSubstr("has an entry that is no variable"))
        << entry;
  const std::string deep(100'000, '[');
  EXPECT_FALSE(parsed(deep).ok());
}

TEST(CrunConfig, SaysNothingThatTheJobCouldHaveSlippedIn) {
  CrunContainer container;
  container.root = "/images/\"quoted\"";
  container.command = {"sh", "-c", "echo \"a\\b\"\n\x01"};
  container.env = {{"A", "\",\"B\":\"c"}};
  container.workdir = container.workPoint = "/run/tarcil/work";
  const std::string config = crunConfig(container);
  EXPECT_THAT(config, HasSubstr(R"("path":"/images/\"quoted\"")"));
  EXPECT_THAT(config, HasSubstr(R"(["sh","-c","echo \"a\\b\"\u000a\u0001"])"));
  EXPECT_THAT(config, HasSubstr(R"("env":["A=\",\"B\":\"c"])"));
  EXPECT_THAT(config, HasSubstr(R"("noNewPrivileges":true)"));
  EXPECT_THAT(config, Not(HasSubstr("hooks")));
}

}  // namespace tarcil::oci_bundle_test
