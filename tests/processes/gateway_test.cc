// The cluster over HTTP: real processes, asked by programs, browsers and whoever means harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <memory>

#include "formats/metrics_text.h"
#include "rpc/token.h"
#include "tests/support/cluster.h"
#include "tests/support/http_client.h"

namespace tarcil::gateway_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const HttpHeaders kJsonBody = {{"Content-Type", "application/json"}};
constexpr const char* kAlicesToken = "a11cea11cea11cea11cea11cea11cea11cea11ce";

// The newest process that another has started and that lives; 0 where there is none.
pid_t childOf(pid_t parent) {
  const std::string task = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent);
  std::ifstream children(task + "/children");
  pid_t child = 0;
  while (children >> child) {
  }
  return child;
}

class Gateway : public testing::Test {
 protected:
  Gateway() : Gateway(std::map<std::string, std::string>{}) {}
  explicit Gateway(const std::map<std::string, std::string>& options)
      : cluster_({.emulate = serversFile(),
                  .optionsOf = {{"gateway", options}},
                  .moreTokens = std::string(kAlicesToken) + " alice submit nobody\n",
                  .hasPage = true}),
        token_(*readTokenFile(cluster_.data() + "/tokens/operate.token")) {}

  std::string serversFile() {
    folder_.write("servers.yaml", "servers: [{name: \"s{n}\", count: 2, rus: 2}]\n");
    return folder_.at("servers.yaml");
  }

  const std::string& address() const { return cluster_.addressOf("gateway"); }
  static HttpHeaders as(const std::string& token, HttpHeaders more = {}) {
    more["Authorization"] = "Bearer " + token;
    return more;
  }
  HttpAnswer get(const std::string& target) const {
    return requestHttp(address(), "GET", target, as(token_));
  }
  HttpAnswer post(const std::string& target, const std::string& body = "", HttpHeaders more = {}) const {
    more.try_emplace("X-Tarcil", "1");
    if (!more.contains("Authorization")) more = as(token_, more);
    return requestHttp(address(), "POST", target, more, body);
  }
  std::string submit(const std::string& file) const {
    const HttpAnswer answer = post("/api/v1/jobs", file);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json().value("job", "");
  }
  // The word behind # of the page's address.
  std::string word() const {
    const std::string page = cluster_.json({"page"}).at("page").get<std::string>();
    EXPECT_THAT(page, testing::StartsWith("http://" + address() + "/#"));
    return page.substr(page.find('#') + 1);
  }
  // The value of one of the gateway's metrics.
  double metric(const std::string& name) const {
    for (const Json& source : cluster_.json({"metrics"})) {
      if (source.at("role") != "gateway") continue;
      for (const Json& sample : source.at("metrics")) {
        if (sample.at("name") == name) return sample.at("value").get<double>();
      }
    }
    ADD_FAILURE() << name << " is not served";
    return 0;
  }

  TraceFolder folder_;
  ManualCluster cluster_;
  const std::string token_;
};

const std::string kJob =
    "name: <b>loud</b>\ncommand: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\nprofile: {application: "
    "loud, caused: {llc: 60}, tolerated: "
    "{llc: 30}}\n";

// --- What would have been ---

class RecordingGateway : public Gateway {
 protected:
  RecordingGateway() = default;
  explicit RecordingGateway(const std::map<std::string, std::string>& options) : Gateway(options) {}
  // With a job that came and ended while it was recorded.
  void SetUp() override {
    cluster_.until("it is recorded", [&]() { return !replays().at("recording").is_null(); });
    cluster_.ended(submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"0.2\"}\ntasks: 2\n"));
  }
  Json replays() const { return get("/api/v1/replay").json(); }
  Json ended() const {
    cluster_.until("the replay is over", [&]() { return replays().at("replay").at("state") != "running"; });
    return replays().at("replay");
  }
};

TEST_F(RecordingGateway, ReplaysTheLastDayUnderOtherSettings) {
  // Until the recorder has looked.
  Json replay;
  cluster_.until("there is a job to replay", [&]() {
    const HttpAnswer begun =
        post("/api/v1/replay",
             R"({"target": 0.5, "margin": 0, "ranking": "quality", "contention": "slowdowns"})", kJsonBody);
    EXPECT_EQ(begun.status, 200) << begun.body;
    replay = ended();
    return replay.at("state") == "done" && replay.at("result").at("recorded").at("jobs") == 1;
  });
  EXPECT_EQ(replay.at("settings"),
            (Json{{"target", 0.5}, {"margin", 0}, {"ranking", "quality"}, {"contention", "slowdowns"}}));
  EXPECT_EQ(replay.at("problem"), nullptr);
  for (const char* run : {"recorded", "as_it_is", "changed"}) {
    EXPECT_EQ(replay.at("result").at(run).at("jobs"), 1) << run;
    EXPECT_GE(replay.at("result").at(run).at("response_ms").at("mean"), 190) << run;
  }
}

TEST_F(RecordingGateway, SaysWhatIsWrongWithWhatIsToBeReplayed) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"{}", "write what is to be otherwise"},
      {R"({"colour": 1})", "'colour' is no setting that can be replayed; write one of target"},
      {R"({"target": "high"})", "target: is "},
      {R"({"target": 2})", "target: 2 is out of range"},
      {R"({"margin": -1})", "margin: is "},
      {R"({"cap": 1e99})", "cap: is "},
      {R"({"ranking": "beauty"})", "; write one of quality, worth"},
      {R"({"contention": 1})", "contention: is '1'; write one of sum, mean, slowdowns"},
  };
  for (const auto& [body, problem] : kWrong) {
    const HttpAnswer answer = post("/api/v1/replay", body, kJsonBody);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.body, HasSubstr(problem));
  }
  EXPECT_EQ(post("/api/v1/replay/cancel").status, 409) << "none runs";
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/replay", as(kAlicesToken)).status, 403);
  EXPECT_EQ(post("/api/v1/replay", R"({"target": 0.5})", as(kAlicesToken, kJsonBody)).status, 403)
      << "it has everybody's jobs";
}

TEST_F(RecordingGateway, StartsItsRecorderAgain) {
  const auto recorder = [&]() { return childOf(cluster_.pidOf("gateway")); };
  const pid_t first = recorder();
  ASSERT_GT(first, 0);
  ::kill(first, SIGKILL);
  cluster_.until("another records", [&]() { return recorder() > 0 && recorder() != first; });
  const pid_t second = recorder();
  cluster_.kill("gateway");
  cluster_.until("nobody records for a gateway that is dead", [&]() { return ::kill(second, 0) != 0; });
}

class HurriedReplays : public RecordingGateway {
 protected:
  HurriedReplays() : RecordingGateway({{"--replay-memory", "64MiB"}}) {}
};

TEST_F(HurriedReplays, FailWithWhatWentWrong) {
  EXPECT_EQ(post("/api/v1/replay", R"({"target": 0.5})", kJsonBody).status, 200);
  const Json replay = ended();
  EXPECT_EQ(replay.at("state"), "failed");
  EXPECT_THAT(replay.at("problem").get<std::string>(), HasSubstr("the replay "));
  EXPECT_EQ(get("/api/v1/status").status, 200) << "and nobody else is the worse for it";
}

class GatewayWithoutRecordings : public Gateway {
 protected:
  GatewayWithoutRecordings() : Gateway({{"--recordings", ""}}) {}
};

TEST_F(GatewayWithoutRecordings, SaysHowToRecord) {
  EXPECT_EQ(get("/api/v1/replay").json(), (Json{{"recording", nullptr}, {"replay", nullptr}}));
  const HttpAnswer answer = post("/api/v1/replay", R"({"target": 0.5})", kJsonBody);
  EXPECT_EQ(answer.status, 409);
  EXPECT_THAT(answer.body, HasSubstr("--recordings FOLDER"));
}

// --- Questions ---

TEST_F(Gateway, AnswersAsTheCommandsDo) {
  const std::string job = submit(kJob);
  cluster_.until("it runs", [&]() { return cluster_.status(job).at("state") == "running"; });
  const std::vector<std::pair<std::string, std::vector<std::string>>> same = {
      {"/api/v1/jobs", {"job", "list"}},
      {"/api/v1/jobs/" + job + "/explain", {"job", "explain", job}},
      {"/api/v1/servers", {"server", "list"}},
      {"/api/v1/servers/s1", {"server", "show", "s1"}},
      {"/api/v1/queue", {"queue"}},
      {"/api/v1/users", {"usage"}},
      {"/api/v1/profiles", {"profile", "list"}},
      {"/api/v1/settings", {"tune"}},
      {"/api/v1/settings/table?p=0.05,0.2&tasks=1,8",
       {"tune", "--table", "--p", "0.05,0.2", "--tasks", "1,8"}},
      {"/api/v1/status", {"status"}}};
  for (const auto& [target, command] : same) {
    const HttpAnswer answer = get(target);
    EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
    EXPECT_EQ(answer.json(), cluster_.json(command)) << target;
    EXPECT_EQ(answer.headers.at("content-type"), "application/json");
    EXPECT_TRUE(answer.headers.contains("tarcil-age")) << target;
  }
  Json page = get("/api/v1/jobs/" + job).json();
  EXPECT_EQ(page.at("task_count"), 1);
  EXPECT_EQ(page.at("next"), nullptr);
  page.erase("task_count");
  page.erase("next");
  EXPECT_EQ(page, cluster_.status(job));
}

TEST_F(Gateway, ShowsTasksInPages) {
  const std::string job = submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\ntasks: 5\n");
  const Json page = get("/api/v1/jobs/" + job + "?first=1&limit=2").json();
  EXPECT_EQ(page.at("task_count"), 5);
  EXPECT_EQ(page.at("next"), 3);
  ASSERT_EQ(page.at("tasks").size(), 2u);
  EXPECT_EQ(page.at("tasks").at(0).at("index"), 1);
}

TEST_F(Gateway, ShowsWhoHurtsWhom) {
  const std::string job = submit(kJob);
  cluster_.until("it runs", [&]() { return cluster_.status(job).at("state") == "running"; });
  const Json contention = get("/api/v1/contention").json();
  ASSERT_EQ(contention.at("rows").size(), 2u);
  int bounded = 0;
  for (const Json& row : contention.at("rows")) {
    const Json& slack = row.at("slack").at("llc");
    if (slack.is_null()) continue;
    ++bounded;
    EXPECT_EQ(slack, 30) << "what its one resident tolerates";
    EXPECT_EQ(row.at("at").at("llc"), row.at("name"));
  }
  EXPECT_EQ(bounded, 1);
  const Json together = get("/api/v1/contention?by=platform").json();
  ASSERT_EQ(together.at("rows").size(), 1u);
  EXPECT_EQ(together.at("rows").at(0).at("servers"), 2);
  const Json buckets = get("/api/v1/contention?by=bucket").json();
  ASSERT_FALSE(buckets.at("rows").empty());
  const std::string bucket = buckets.at("rows").at(0).at("bucket");
  const Json alike = get("/api/v1/contention?bucket=" + bucket).json();
  EXPECT_EQ(alike.at("rows").size(), buckets.at("rows").at(0).at("servers"));
  for (const Json& row : alike.at("rows")) EXPECT_EQ(row.at("bucket"), bucket);
  EXPECT_EQ(get("/api/v1/contention?limit=1").json().at("next"), "s1");
  EXPECT_EQ(get("/api/v1/contention?limit=1&after=s1").json().at("rows").at(0).at("name"), "s2");

  const Json interference = get("/api/v1/interference").json();
  ASSERT_EQ(interference.at("applications").size(), 1u) << interference;
  EXPECT_EQ(interference.at("applications").at(0),
            (Json{{"name", "loud"}, {"tasks", 1}, {"violations", 0}, {"source", "running"}}));
  ASSERT_EQ(interference.at("pairs").size(), 1u);
  EXPECT_EQ(interference.at("pairs").at(0).at("slack"), -30);
  EXPECT_EQ(interference.at("pairs").at(0).at("resource"), "llc");
}

TEST_F(Gateway, RepeatsAnswersWithoutAskingTheClusterEachTime) {
  HttpConnection connection(address());
  const double before = metric("tarcil_gateway_questions_total");
  for (int i = 0; i < 200; ++i) {
    connection.sendRequest("GET", "/api/v1/status", as(token_), "");
    ASSERT_EQ(connection.answer().status, 200);
  }
  EXPECT_LT(metric("tarcil_gateway_questions_total") - before, 100);
}

TEST_F(Gateway, KnowsJobsByItself) {
  const std::string job = submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  const auto summary = [&]() { return get("/api/v1/summaries?jobs=" + job + ",999999").json(); };
  cluster_.until("it is in the copy", [&]() {
    const Json there = summary();
    return there.is_array() && there.size() == 1 && there.at(0).at("state") == "running";
  });
  EXPECT_EQ(summary(), cluster_.json({"job", "list"}));
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/summaries?jobs=" + job, as(kAlicesToken)).json(),
            Json::array())
      << "it is somebody else's";
}

// --- Doing something ---

TEST_F(Gateway, DoesWhatTheCommandsDo) {
  const std::string job = submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\npriority: 10\n");
  EXPECT_EQ(post("/api/v1/jobs/" + job + "/hold").json().at(0).at("held"), true);
  EXPECT_EQ(post("/api/v1/jobs/" + job + "/release").json().at(0).at("changed"), true);
  const HttpAnswer priority = post("/api/v1/jobs/" + job + "/priority", R"({"priority": 70})",
                                   {{"Content-Type", "application/json"}});
  EXPECT_EQ(priority.json().at(0).at("priority"), 70) << priority.body;
  EXPECT_EQ(post("/api/v1/jobs/" + job + "/cancel").json().at(0).at("cancelled"), true);
  EXPECT_EQ(cluster_.ended(job).at("state"), "cancelled");
  EXPECT_EQ(post("/api/v1/jobs/" + job + "/rerun").json().at(0).at("changed"), true);

  EXPECT_EQ(post("/api/v1/servers/s1/cordon").json().at(0).at("state"), "cordoned");
  EXPECT_EQ(get("/api/v1/servers/s1").json().at("cordoned"), true) << "what was done shows at once";
  EXPECT_EQ(post("/api/v1/servers/s1/uncordon").status, 200);
  EXPECT_EQ(post("/api/v1/servers/s1/drain", R"({"deadline": "1h"})", {{"Content-Type", "application/json"}})
                .status,
            200);
  EXPECT_EQ(post("/api/v1/servers/nobody/cordon").status, 404);
}

TEST_F(Gateway, PlansAJobFile) {
  const HttpAnswer plan = post("/api/v1/plan?seed=7", kJob);
  ASSERT_EQ(plan.status, 200) << plan.body;
  EXPECT_EQ(plan.json().at("placed"), 1);
  EXPECT_EQ(get("/api/v1/jobs").json(), Json::array());
}

TEST_F(Gateway, SaysAtWhichLineAJobFileIsWrong) {
  const HttpAnswer answer = post("/api/v1/jobs", "command: [true]\ntasks: 0\nrus_per_task: many\n");
  EXPECT_EQ(answer.status, 400);
  const Json problems = answer.json().at("error").at("problems");
  ASSERT_EQ(problems.size(), 2u) << answer.body;
  EXPECT_EQ(problems.at(0).at("line"), 2);
  EXPECT_EQ(problems.at(0).at("field"), "tasks");
  EXPECT_EQ(problems.at(1).at("line"), 3);
}

TEST_F(Gateway, ReadsNoFilesOfItsMachineForAJobFile) {
  for (const char* field : {"files: [/etc/passwd]", "profile: /etc/passwd", "items: {lines: /etc/passwd}",
                            "items: {json: /etc/passwd}"}) {
    const HttpAnswer answer = post("/api/v1/jobs", std::string("command: [true]\n") + field + "\n");
    EXPECT_EQ(answer.status, 400) << field;
    EXPECT_THAT(answer.body, AllOf(HasSubstr("names a file"), Not(HasSubstr("root:")))) << field;
    EXPECT_EQ(answer.json().at("error").at("problems").at(0).at("line"), 2) << field;
  }
}

TEST_F(Gateway, LetsUsersDoWhatTheirTokensLetThem) {
  const std::string job = submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/jobs/" + job, as(kAlicesToken)).status, 404);
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/jobs", as(kAlicesToken)).json(), Json::array());
  EXPECT_EQ(post("/api/v1/jobs/" + job + "/cancel", "", as(kAlicesToken)).status, 404);
  EXPECT_NE(cluster_.status(job).at("state"), "cancelled");
  const HttpAnswer cordon = post("/api/v1/servers/s1/cordon", "", as(kAlicesToken));
  EXPECT_EQ(cordon.status, 403) << cordon.body;
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/session", as(kAlicesToken)).json(),
            (Json{{"user", "alice"}, {"role", "submit"}, {"expires", nullptr}}));
}

// --- Who is asking ---

TEST_F(Gateway, LetsNobodyInWithoutAToken) {
  for (const HttpHeaders& headers : {HttpHeaders{}, as("wrong"), HttpHeaders{{"Authorization", "Basic abc"}},
                                     HttpHeaders{{"Cookie", "a=b"}}}) {
    const HttpAnswer answer = requestHttp(address(), "GET", "/api/v1/status", headers);
    EXPECT_EQ(answer.status, 401) << answer.body;
    EXPECT_EQ(answer.json().at("error").at("code"), "unauthenticated");
  }
}

TEST_F(Gateway, SignsABrowserInOnceForAWord) {
  const std::string body = Json{{"word", word()}}.dump();
  const HttpHeaders json = {{"Content-Type", "application/json"}, {"X-Tarcil", "1"}};
  const HttpAnswer signedIn = requestHttp(address(), "POST", "/api/v1/session", json, body);
  ASSERT_EQ(signedIn.status, 200) << signedIn.body;
  EXPECT_EQ(signedIn.json().at("role"), "operate");
  const std::string cookie = signedIn.headers.at("set-cookie");
  EXPECT_THAT(cookie, AllOf(HasSubstr("HttpOnly"), HasSubstr("SameSite=Strict"), Not(HasSubstr(token_))));
  EXPECT_EQ(requestHttp(address(), "POST", "/api/v1/session", json, body).status, 401) << "a second time";

  HttpHeaders session = {{"Cookie", cookie.substr(0, cookie.find(';'))}};
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/status", session).status, 200);
  EXPECT_EQ(requestHttp(address(), "POST", "/api/v1/session/end", session).status, 403) << "without X-Tarcil";
  session["X-Tarcil"] = "1";
  EXPECT_EQ(requestHttp(address(), "POST", "/api/v1/word", session).status, 401)
      << "a session gives no words";
  const HttpAnswer ended = requestHttp(address(), "POST", "/api/v1/session/end", session);
  EXPECT_EQ(ended.status, 200);
  EXPECT_THAT(ended.headers.at("set-cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/status", session).status, 401) << "it has ended";
}

TEST_F(Gateway, TakesNoWordForASessionNorTheOtherWayRound) {
  const std::string one = word();
  const std::string port = address().substr(address().rfind(':') + 1);
  EXPECT_EQ(
      requestHttp(address(), "GET", "/api/v1/status", {{"Cookie", "tarcil_session_" + port + "=" + one}})
          .status,
      401);
  for (const std::string& wrong :
       {std::string("x"), one.substr(1), std::string(token_), std::string(100'000, 'A')}) {
    EXPECT_EQ(
        post("/api/v1/session", Json{{"word", wrong}}.dump(), {{"Content-Type", "application/json"}}).status,
        401);
  }
}

TEST_F(Gateway, GoesOnWithSessionsWhenItIsStartedAgain) {
  const HttpHeaders json = {{"Content-Type", "application/json"}, {"X-Tarcil", "1"}};
  const HttpAnswer signedIn =
      requestHttp(address(), "POST", "/api/v1/session", json, Json{{"word", word()}}.dump());
  const std::string cookie = signedIn.headers.at("set-cookie");
  cluster_.kill("gateway");
  cluster_.start("gateway");
  EXPECT_EQ(requestHttp(address(), "GET", "/api/v1/status", {{"Cookie", cookie.substr(0, cookie.find(';'))}})
                .status,
            200);
}

TEST_F(Gateway, RefusesForgedHostsAndOrigins) {
  for (const char* host : {"evil.example", "", "127.0.0.1", "127.0.0.1:1"}) {
    for (const char* target : {"/", "/api/v1/status", "/assets/app.js"})
      EXPECT_EQ(requestHttp(address(), "GET", target, as(token_, {{"Host", host}})).status, 421)
          << host << target;
  }
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:1"}) {
    const HttpAnswer answer = post("/api/v1/jobs", "command: [true]\n", {{"Origin", origin}});
    EXPECT_EQ(answer.status, 403) << origin;
  }
  EXPECT_EQ(post("/api/v1/jobs", "command: [true]\n", {{"X-Tarcil", "yes"}}).status, 403);
  EXPECT_EQ(post("/api/v1/plan", "command: [true]\n", {{"Origin", "http://" + address()}}).status, 200);
  EXPECT_EQ(get("/api/v1/jobs").json(), Json::array()) << "nothing was done";
}

// --- What nobody should send ---

TEST_F(Gateway, SaysWhatIsWrongWithARequest) {
  EXPECT_EQ(get("/api/v1/nothing").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/4711").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/name:x").status, 400);
  EXPECT_EQ(get("/api/v1/servers/%3Cscript%3E").status, 404);
  EXPECT_EQ(get("/api/v1/servers/%00").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=many").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?state=happy").status, 400);
  const HttpAnswer method = requestHttp(address(), "DELETE", "/api/v1/jobs", as(token_));
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.at("allow"), "GET, POST");
  EXPECT_EQ(requestHttp(address(), "POST", "/", {{"X-Tarcil", "1"}}).status, 405);
  const HttpHeaders json = {{"Content-Type", "application/json"}};
  for (const char* body : {"{", "[]", "7", R"({"priority": -1})", R"({"priority": 101})",
                           R"({"priority": "9"})", R"({"prio": 1})"})
    EXPECT_EQ(post("/api/v1/jobs/1/priority", body, json).status / 100, 4) << body;
  EXPECT_EQ(post("/api/v1/session", R"({"word": 7})", json).status, 400);
  EXPECT_EQ(post("/api/v1/jobs/1/priority", R"({"priority": 1})", {{"Content-Type", "text/plain"}}).status,
            415);
  EXPECT_EQ(post("/api/v1/jobs", "").status, 411);
}

TEST_F(Gateway, KnowsNoJobThatIsNotThereToBeChanged) {
  const HttpHeaders json = {{"Content-Type", "application/json"}};
  for (const char* job : {"4711", "00112233445566778899aabbccddeeff"}) {
    for (const char* change : {"cancel", "hold", "release", "rerun"})
      EXPECT_EQ(post(std::string("/api/v1/jobs/") + job + "/" + change).status, 404) << job << change;
    EXPECT_EQ(post(std::string("/api/v1/jobs/") + job + "/priority", R"({"priority": 1})", json).status, 404);
  }
}

TEST_F(Gateway, KnowsHowNoTaskPerformedWhereNoneWasBelowWhatIsExpected) {
  const std::string job = submit(kJob);
  const std::string target = "/api/v1/jobs/" + job + "/performance";
  cluster_.until("it is in the copy", [&]() { return get(target).status == 200; });
  EXPECT_EQ(get(target).json().at("tasks"), Json::array());
  EXPECT_EQ(requestHttp(address(), "GET", target, as(kAlicesToken)).status, 404) << "it is somebody else's";
  EXPECT_EQ(get("/api/v1/jobs/4711/performance").status, 404);
}

TEST_F(Gateway, ListsNoFilesOfAJobThatKeepsNone) {
  const Json files = get("/api/v1/jobs/" + submit(kJob) + "/files").json();
  EXPECT_EQ(files.at("results"), Json::array());
  EXPECT_EQ(files.at("tasks"), Json::array());
}

// --- With commands that run ---

class RunningGateway : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_CONTAINERS();
    cluster_ = std::make_unique<ManualCluster>(plan());
  }
  virtual ClusterPlan plan() const { return {.rus = 2, .hasPage = true}; }

  HttpHeaders headers() const {
    return {{"Authorization", "Bearer " + *readTokenFile(cluster_->data() + "/tokens/operate.token")}};
  }
  HttpAnswer get(const std::string& target) const {
    return requestHttp(cluster_->addressOf("gateway"), "GET", target, headers());
  }

  std::unique_ptr<ManualCluster> cluster_;
};

TEST_F(RunningGateway, GivesTheFilesThatAreKeptOfTasksPieceByPiece) {
  const std::string job = cluster_->submit(shellJob("seq 1 250000 > 'a file'; echo $TARCIL_TASK > number",
                                                    "tasks: 2\nresults: ['a file', number]\n"));
  EXPECT_EQ(cluster_->ended(job)["state"], "done");
  const Json files = get("/api/v1/jobs/" + job + "/files?first=1").json();
  EXPECT_EQ(files.at("task_count"), 2);
  ASSERT_EQ(files.at("tasks").size(), 1u) << files;
  const Json& task = files.at("tasks").at(0);
  ASSERT_EQ(task.at("files").size(), 2u) << files;
  const std::string attempt = std::to_string(task.at("attempt").get<uint64_t>());
  const std::string file = "/api/v1/jobs/" + job + "/file?task=1&attempt=" + attempt + "&path=";
  std::string expected, content;
  for (int i = 1; i <= 250'000; ++i) expected += std::to_string(i) + "\n";
  EXPECT_EQ(task.at("files").at(0).at("bytes"), expected.size());
  for (;;) {
    const HttpAnswer piece = get(file + "a%20file&offset=" + std::to_string(content.size()));
    ASSERT_EQ(piece.status, 200) << piece.body;
    EXPECT_LE(piece.body.size(), 1u << 20);
    EXPECT_EQ(piece.headers.at("content-disposition"), "attachment") << "no browser shows it as a page";
    if (piece.body.empty()) break;
    content += piece.body;
    EXPECT_EQ(piece.headers.at("tarcil-next-offset"), std::to_string(content.size()));
  }
  EXPECT_TRUE(content == expected);
  EXPECT_EQ(get(file + "number").body, "1\n");
  EXPECT_EQ(get(file + "..%2Fother").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/" + job + "/file?task=1&attempt=1&path=number").status, 409);
  EXPECT_EQ(get("/api/v1/jobs/" + job + "/file?task=1").status, 400);
}

TEST_F(RunningGateway, GivesWhatALateBoundTaskWroteOnceItIsOver) {
  const TraceFolder& traces = cluster_->traces();
  const std::string job =
      cluster_->submit(shellJob("echo early; " + traces.note("started") + traces.waitForGate() + "echo late",
                                "policy: late-binding\n"));
  traces.waitForLines("started", 1);
  const std::string logs = "/api/v1/jobs/" + job + "/logs";
  const HttpAnswer before = get(logs);
  EXPECT_EQ(before.status, 200) << before.body;
  EXPECT_EQ(before.headers.at("tarcil-ended"), "false");
  HttpConnection stream(cluster_->addressOf("gateway"));
  stream.sendRequest("GET", logs + "?follow=true", headers(), "");
  stream.until("200 OK");
  traces.openGate();
  EXPECT_THAT(stream.until("event: ended"), HasSubstr(R"({"offset":0,"text":"early\nlate\n"})"));
  EXPECT_EQ(get(logs + "?offset=6").body, "late\n");
  EXPECT_EQ(get(logs + "?offset=11").headers.at("tarcil-ended"), "true");
  EXPECT_EQ(get(logs + "?task=1").status, 404);
}

class WatchedGateway : public RunningGateway {
 protected:
  ClusterPlan plan() const override {
    return {.rus = 2,
            .monitorFlags = {"--performance-period", "100ms"},
            .masterFlags = {"--adjusting-pause", "100ms", "--adjusting-calm", "1h"},
            .hasPage = true};
  }
};

TEST_F(WatchedGateway, RemembersWhatATaskReachedOverTime) {
  const TraceFolder& traces = cluster_->traces();
  const std::string job = cluster_->submit(
      shellJob("while [ -d " + traces.at("") + " ]; do [ -e " + traces.at("gate") +
                   " ] && echo 100 > $TARCIL_METRIC_FILE || echo 50 > $TARCIL_METRIC_FILE; sleep 0.02; done",
               "performance: {metric: reported, target: 100, window: 300ms}\n"));
  const auto measures = [&]() {
    const HttpAnswer answer = get("/api/v1/jobs/" + job + "/performance");
    const Json tasks = answer.status == 200 ? answer.json().at("tasks") : Json::array();
    return tasks.empty() ? Json::array() : tasks.at(0).at("measures");
  };
  cluster_->until("something is measured", [&]() { return !measures().empty(); });
  EXPECT_EQ(measures().at(0).at("part"), 0.5);
  traces.openGate();
  cluster_->until("it reaches all", [&]() { return measures().back().at("part") == 1; });
  EXPECT_EQ(measures().at(0).at("part"), 0.5) << "what was before is still there";
}

class CrowdedGateway : public Gateway {
 protected:
  CrowdedGateway() : Gateway({{"--streams-of-user", "1000"}}) {}
};

TEST_F(CrowdedGateway, HasAThousandStreamsAndOneClearErrorBeyond) {
  struct rlimit files {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  cluster_.until("it follows", [&]() { return get("/api/v1/summaries?jobs=1").status == 200; });
  std::vector<std::unique_ptr<HttpConnection>> streams;
  for (int i = 0; i < 1'000; ++i) {
    streams.push_back(std::make_unique<HttpConnection>(address()));
    streams.back()->sendRequest("GET", "/api/v1/events", as(token_), "");
  }
  for (auto& stream : streams) ASSERT_THAT(stream->until("\r\n"), HasSubstr("200 OK"));
  const HttpAnswer beyond = get("/api/v1/events");
  EXPECT_EQ(beyond.status, 429);
  EXPECT_EQ(beyond.headers.at("retry-after"), "1");
  EXPECT_THAT(beyond.body, HasSubstr("1000 streams are open"));
  EXPECT_EQ(get("/api/v1/status").status, 200) << "whoever streams keeps nobody from asking";
  const std::string job = submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  for (auto& stream : streams) stream->until(job);
  streams.clear();
  cluster_.until("there is room again", [&]() { return metric("tarcil_gateway_streams") == 0; });
}

class SmallGateway : public Gateway {
 protected:
  SmallGateway()
      : Gateway({{"--body-size", "10KB"},
                 {"--streams", "8"},
                 {"--streams-of-user", "5"},
                 {"--connections-of-address", "20"},
                 {"--events", "100"}}) {}
};

TEST_F(SmallGateway, TakesNoBodyThatIsTooLarge) {
  EXPECT_EQ(post("/api/v1/jobs", std::string(20'000, '#')).status, 413);
  HttpConnection connection(address());
  connection.send("POST /api/v1/jobs HTTP/1.1\r\nHost: " + address() + "\r\nAuthorization: Bearer " + token_ +
                  "\r\nX-Tarcil: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 20; ++i) connection.send("400\r\n" + std::string(1024, '#') + "\r\n");
  EXPECT_EQ(connection.answer().status, 413);
  EXPECT_EQ(get("/api/v1/status").status, 200);
}

class HurriedGateway : public Gateway {
 protected:
  HurriedGateway() : Gateway({{"--request-time", "1s"}}) {}
};

TEST_F(HurriedGateway, WaitsForNobodyWhoSendsSlowly) {
  HttpConnection headers(address()), body(address()), nothing(address());
  headers.send("GET /api/v1/status HTTP/1.1\r\nHost: ");
  body.send("POST /api/v1/jobs HTTP/1.1\r\nHost: " + address() + "\r\nAuthorization: Bearer " + token_ +
            "\r\nX-Tarcil: 1\r\nContent-Length: 100\r\n\r\ncommand");
  EXPECT_TRUE(headers.hasEnded());
  EXPECT_TRUE(body.hasEnded());
  EXPECT_TRUE(nothing.hasEnded());
}

TEST_F(SmallGateway, TakesNoHeadersThatAreTooLong) {
  HttpConnection connection(address());
  connection.send("GET / HTTP/1.1\r\nHost: " + address() + "\r\nX: " + std::string(200'000, 'x') +
                  "\r\n\r\n");
  EXPECT_NE(connection.answer().status / 100, 2);
  EXPECT_EQ(get("/api/v1/status").status, 200);
}

TEST_F(SmallGateway, HasSoManyStreamsOfAUserAndInAll) {
  std::vector<std::unique_ptr<HttpConnection>> streams;
  const auto open = [&](const std::string& token) {
    streams.push_back(std::make_unique<HttpConnection>(address()));
    streams.back()->sendRequest("GET", "/api/v1/events", as(token), "");
    return streams.back()->until("\r\n").find("200 OK") != std::string::npos;
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(open(token_)) << i;
  EXPECT_FALSE(open(token_)) << "one more of the user";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(open(kAlicesToken)) << i;
  EXPECT_FALSE(open(kAlicesToken)) << "one more of all";
  streams.clear();
  cluster_.until("there is room again", [&]() { return open(token_); });
}

TEST_F(SmallGateway, HasSoManyConnectionsOfAnAddress) {
  std::vector<std::unique_ptr<HttpConnection>> connections;
  for (int i = 0; i < 30; ++i) {
    connections.push_back(std::make_unique<HttpConnection>(address()));
    connections.back()->sendRequest("GET", "/api/v1/openapi.json", {}, "");
  }
  int answered = 0;
  for (auto& connection : connections) answered += connection->answer().status == 200 ? 1 : 0;
  EXPECT_LE(answered, 20);
  EXPECT_GE(answered, 15);
  connections.clear();
  cluster_.until("there is room again", [&]() { return get("/api/v1/status").status == 200; });
}

// --- Events ---

// The id of the last event in a text.
std::string lastId(const std::string& text) {
  const size_t at = text.rfind("id: ");
  return at == std::string::npos ? "" : text.substr(at + 4, text.find('\n', at) - at - 4);
}

class Listener final {
 public:
  Listener(const std::string& address, HttpHeaders headers) : connection_(address) {
    connection_.sendRequest("GET", "/api/v1/events", headers, "");
    const std::string head = connection_.until("\r\n\r\n");
    EXPECT_THAT(head, AllOf(HasSubstr("200 OK"), HasSubstr("text/event-stream")));
  }
  std::string until(const std::string& text) { return connection_.until(text); }

 private:
  HttpConnection connection_;
};

TEST_F(Gateway, TellsWhatHappensAsItHappens) {
  cluster_.until("it follows", [&]() { return get("/api/v1/summaries?jobs=1").status == 200; });
  Listener events(address(), as(token_));
  const std::string job =
      submit("name: <script>alert(1)</script>\ncommand: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  const std::string running = events.until("\"state\":\"running\"");
  EXPECT_THAT(running, AllOf(HasSubstr("event: job\n"), HasSubstr(job)));
  EXPECT_THAT(running, HasSubstr("<script>")) << "as it is: it is JSON, and the page's to show as text";
  post("/api/v1/servers/s2/cordon");
  EXPECT_THAT(events.until("\"cordoned\":true"), HasSubstr("event: server\n"));
}

TEST_F(RunningGateway, TellsOfLateBoundJobsAsTheirAgentsDo) {
  Listener events(cluster_->addressOf("gateway"), headers());
  const TraceFolder& traces = cluster_->traces();
  const std::string job = cluster_->submit(
      shellJob(traces.note("started") + traces.waitForGate(), "name: late\npolicy: late-binding\n"));
  const std::string begun = events.until("\"late_binding\":true");
  EXPECT_THAT(begun, AllOf(HasSubstr("event: job\n"), HasSubstr(job)));
  traces.openGate();
  events.until("\"state\":\"done\"");
}

TEST_F(Gateway, GoesOnWhereAStreamLeftOff) {
  cluster_.until("it follows", [&]() { return get("/api/v1/summaries?jobs=1").status == 200; });
  std::string id;
  {
    Listener events(address(), as(token_));
    submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
    id = lastId(events.until("\"state\":\"running\""));
  }
  const std::string second = submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  Listener again(address(), as(token_, {{"Last-Event-ID", id}}));
  EXPECT_THAT(again.until(second), Not(HasSubstr("event: reset")));
  Listener stranger(address(), as(token_, {{"Last-Event-ID", "1234-5"}}));
  stranger.until("event: reset\n");
}

TEST_F(Gateway, TellsUsersNothingOfJobsOfOthers) {
  cluster_.until("it follows", [&]() { return get("/api/v1/summaries?jobs=1").status == 200; });
  Listener alice(address(), as(kAlicesToken));
  const std::string others = submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  const HttpAnswer own =
      post("/api/v1/jobs", "command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n", as(kAlicesToken));
  EXPECT_THAT(alice.until(own.json().at("job").get<std::string>()), Not(HasSubstr(others)));
}

TEST_F(Gateway, RefusesAnIdThatIsNone) {
  for (const char* id : {"x", "7", "-", "1-2-3", "%0a"}) {
    const HttpAnswer answer =
        requestHttp(address(), "GET", "/api/v1/events", as(token_, {{"Last-Event-ID", id}}));
    EXPECT_EQ(answer.status, 400) << id;
    EXPECT_THAT(answer.body, HasSubstr("is no id of an event"));
  }
}

TEST_F(SmallGateway, SaysThatAnEventIsTooOld) {
  cluster_.until("it follows", [&]() { return get("/api/v1/summaries?jobs=1").status == 200; });
  std::string id;
  {
    Listener events(address(), as(token_));
    submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
    id = lastId(events.until("\"state\":\"running\""));
  }
  const double before = metric("tarcil_gateway_events_total");
  cluster_.until("more happened than it remembers", [&]() {
    post("/api/v1/servers/s1/cordon");
    post("/api/v1/servers/s1/uncordon");
    return metric("tarcil_gateway_events_total") > before + 100;
  });
  Listener again(address(), as(token_, {{"Last-Event-ID", id}}));
  again.until("event: reset\n");
}

TEST_F(Gateway, SaysThatTheClusterWasAwayAndGoesOn) {
  cluster_.until("it follows", [&]() { return get("/api/v1/summaries?jobs=1").status == 200; });
  Listener events(address(), as(token_));
  cluster_.kill("master");
  cluster_.start("master");
  events.until("event: reset\n");
  submit("command: [work]\nenv: {TARCIL_EMULATE_SECONDS: \"3600\"}\n");
  events.until("\"state\":\"running\"");
}

// --- The page ---

TEST_F(Gateway, ServesThePageWithAStrictPolicy) {
  for (const char* target : {"/", "/jobs/4711"}) {
    const HttpAnswer page = requestHttp(address(), "GET", target);
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.headers.at("content-type"), HasSubstr("text/html"));
    EXPECT_THAT(page.headers.at("content-security-policy"),
                AllOf(HasSubstr("default-src 'self'"), HasSubstr("frame-ancestors 'none'"),
                      Not(HasSubstr("unsafe"))));
    EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(page.headers.at("referrer-policy"), "no-referrer");
    const HttpAnswer again =
        requestHttp(address(), "GET", target, {{"If-None-Match", page.headers.at("etag")}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
  }
  EXPECT_EQ(requestHttp(address(), "GET", "/assets/missing.js").status, 404);
}

// --- The description ---

TEST_F(Gateway, AnswersWhatItsDescriptionSays) {
  const std::string job = submit(kJob);
  cluster_.until("it runs", [&]() { return cluster_.status(job).at("state") == "running"; });
  Json checks = Json::array();
  const Json api = requestHttp(address(), "GET", "/api/v1/openapi.json").json();
  for (const auto& [path, methods] : api.at("paths").items()) {
    if (!methods.contains("get")) continue;
    const Json& content = methods.at("get").at("responses").at("200").at("content");
    if (!content.contains("application/json")) continue;
    std::string target = path;
    const bool isProfile = target.find("profiles/{name}") != std::string::npos;
    if (isProfile) continue;  // none is stored
    for (const auto& [name, value] : {std::pair<std::string, std::string>{"{job}", job}, {"{name}", "s1"}}) {
      if (const size_t at = target.find(name); at != std::string::npos)
        target.replace(at, name.size(), value);
    }
    const HttpAnswer answer = get(target);
    EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
    checks.push_back({{"what", target},
                      {"schema", content.at("application/json").at("schema")},
                      {"answer", answer.json()}});
  }
  EXPECT_GT(checks.size(), 15u);
  const auto add = [&](const char* schema, const HttpAnswer& answer) {
    checks.push_back({{"what", schema},
                      {"schema", {{"$ref", std::string("#/components/schemas/") + schema}}},
                      {"answer", answer.json()}});
  };
  add("Error", get("/api/v1/nothing"));
  add("Error", post("/api/v1/jobs", "tasks: 0\n"));
  add("Plan", post("/api/v1/plan", kJob));
  add("Word", post("/api/v1/word"));
  add("SteeredServers", post("/api/v1/servers/s1/cordon"));
  add("Steered", post("/api/v1/jobs/" + job + "/hold"));
  add("Cancelled", post("/api/v1/jobs/" + job + "/cancel"));
  folder_.write("checks.json", Json{{"components", api.at("components")}, {"checks", checks}}.dump());
  const ProcessResult result = runProcess(
      {"/usr/bin/python3", TARCIL_SOURCE_DIR "/tests/processes/check_answers.py", folder_.at("checks.json")},
      {});
  EXPECT_EQ(result.exitCode, 0) << result.out << result.err;
}

}  // namespace tarcil::gateway_test
