// What a gateway serves: one table, from which requests are matched and checked, and docs/http.md's
// openapi.json is made. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace tarcil::gateway {

enum class Method : uint8_t { kGet, kPost };
std::string_view name(Method method);

// What is asked for.
enum class Operation : uint8_t {
  kStatus,
  kJobs,
  kJob,
  kExplain,
  kLogs,
  kFiles,
  kFile,
  kPerformance,
  kServers,
  kServer,
  kQueue,
  kUsers,
  kProfiles,
  kProfile,
  kSettings,
  kSampleTable,
  kViolations,
  kSummaries,
  kContention,
  kInterference,
  kSharing,
  kEvents,
  kOpenApi,
  kReplay,
  kBeginReplay,
  kCancelReplay,
  kSubmit,
  kPlan,
  kCancel,
  kHold,
  kRelease,
  kRerun,
  kPriority,
  kCordon,
  kUncordon,
  kDrain,
  kWord,
  kSignIn,
  kSession,
  kSignOut,
};

// Who may ask; what a user may see or do is for the cluster to say.
enum class Access : uint8_t { kAnyone, kUser, kToken };  // kToken: a user, by a token and not by a session

enum class Body : uint8_t { kNone, kJson, kOptionalJson, kJobFile };

// What is done to answer.
enum class Answering : uint8_t {
  kAsked,     // a question to the cluster, whose answer is repeated for a while
  kDone,      // something is done, each time
  kHere,      // by the gateway alone
  kStreamed,  // for as long as the asker listens
};

// A parameter of the path ({name} there) or of the query.
struct Parameter {
  enum class Kind : uint8_t { kText, kWhole, kNumber, kFlag, kWord };
  const char* name = "";
  Kind kind = Kind::kText;
  const char* help = "";
  const char* otherwise = "";                // what holds where it is not given; empty: nothing
  int64_t least = 0, most = 0;               // of a whole number
  std::vector<std::string_view> words = {};  // of kWord
  bool isInPath = false;
};

struct Route {
  Operation operation{};
  Method method{};
  const char* path = "";
  const char* summary = "";
  Access access = Access::kUser;
  Answering answering = Answering::kAsked;
  const char* answer = "";  // its schema (gateway/server/openapi.cc)
  Body body = Body::kNone;
  std::vector<Parameter> parameters = {};
};
const std::vector<Route>& routes();

// By name, in the path and in the query, with defaults; each as its route says that it may be.
class Arguments final {
 public:
  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return !text(name).empty(); }
  // Empty where it is not given and has no default.
  const std::string& text(const std::string& name) const;
  // Requires: it is a whole number, and is given or has a default.
  int64_t whole(const std::string& name) const { return std::stoll(text(name)); }
  bool flag(const std::string& name) const { return text(name) == "true"; }

 private:
  std::map<std::string, std::string> values_;
};

struct Question {
  const Route* route = nullptr;
  Arguments arguments{};
};
// The path is served by other methods.
struct OtherMethod {
  std::vector<Method> methods;
};
struct NoSuchPath {};

// `target` is path and query as they stand in a request. Invalid where an argument is wrong, with which and
// what to write.
using Matched = std::variant<Question, OtherMethod, NoSuchPath>;
Result<Matched> match(std::string_view method, std::string_view target);

// Without %XX; Invalid where one is malformed, is %00, or the text is no UTF-8.
Result<std::string> unescaped(std::string_view text, bool isQuery);

}  // namespace tarcil::gateway
