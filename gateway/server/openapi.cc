#include "gateway/server/openapi.h"

#include <string>
#include <utility>
#include <vector>

#include "core/base/version.h"
#include "core/decide/options.h"
#include "core/model/contention.h"
#include "core/model/resources.h"
#include "gateway/logic/routes.h"

namespace tarcil::gateway {
namespace {

// --- Schemas of answers. What else an object has is allowed: keys are added, and none goes. ---

Json ref(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}
Json type(const char* name) {
  return {{"type", name}};
}
Json orNull(const char* name) {
  return {{"type", {name, "null"}}};
}
Json arrayOf(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}
Json mapOf(Json values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}
Json object(const std::vector<std::pair<std::string, Json>>& properties) {
  Json all = Json::object(), names = Json::array();
  for (const auto& [name, schema] : properties) {
    all[name] = schema;
    names.push_back(name);
  }
  return {{"type", "object"}, {"properties", std::move(all)}, {"required", std::move(names)}};
}

const Json kText = type("string"), kWhole = type("integer"), kNumber = type("number"), kYes = type("boolean");
const Json kTextOrNull = orNull("string"), kWholeOrNull = orNull("integer"), kNumberOrNull = orNull("number");

Json byResource(const Json& values) {
  Json all = Json::object();
  for (const std::string_view name : kResourceNames) all[std::string(name)] = values;
  return {{"type", "object"}, {"properties", std::move(all)}, {"additionalProperties", false}};
}

Json time() {
  return {{"type", {"string", "null"}}, {"description", "ISO 8601, UTC, microseconds."}};
}

Json state() {
  return {{"enum", {"queued", "starting", "running", "done", "failed", "cancelled", "lost"}}};
}

Json schemas() {
  const Json pressures = byResource(kWhole), pressuresOrNull = byResource(kWholeOrNull);
  const Json jobName = object({{"id", kText}, {"number", kWholeOrNull}});
  Json all = Json::object();
  all["Error"] = object({{"error", object({{"code", kText}, {"message", kText}})}});
  all["Error"]["properties"]["error"]["properties"]["problems"] =
      arrayOf(object({{"line", kWhole}, {"column", kWhole}, {"field", kText}, {"message", kText}}));
  all["Nothing"] = type("object");
  all["OpenApi"] = object({{"openapi", kText}, {"paths", type("object")}});
  all["Status"] = object({{"servers", mapOf(kWhole)},
                          {"units", kWhole},
                          {"free_units", kWhole},
                          {"agents", mapOf(kWhole)},
                          {"waiting", kWhole},
                          {"warning", kTextOrNull},
                          {"jobs", mapOf(kWhole)},
                          {"ended_badly", mapOf(kWhole)}});
  all["JobEntry"] = object({{"id", kText},
                            {"number", kWholeOrNull},
                            {"name", kText},
                            {"user", kText},
                            {"late_binding", kYes},
                            {"state", state()},
                            {"reason", kTextOrNull},
                            {"tasks", kWhole},
                            {"queued", kWhole},
                            {"active", kWhole},
                            {"succeeded", kWhole},
                            {"failed", kWhole},
                            {"submitted", time()},
                            {"finished", time()}});
  all["Jobs"] = arrayOf(ref("JobEntry"));
  all["Job"] = object({{"id", kText},
                       {"number", kWholeOrNull},
                       {"name", kText},
                       {"state", state()},
                       {"submitted", time()},
                       {"finished", time()},
                       {"tasks", arrayOf(object({{"index", kWhole}, {"state", state()}}))},
                       {"task_count", kWhole},
                       {"next", kWholeOrNull}});
  all["Violation"] = object({{"job", kText},
                             {"number", kWholeOrNull},
                             {"task", kWhole},
                             {"server", kText},
                             {"metric", kText},
                             {"expected", kNumber},
                             {"measured", kNumber},
                             {"since", time()},
                             {"causes", arrayOf(object({{"kind", kText},
                                                        {"resource", kTextOrNull},
                                                        {"neighbour", kTextOrNull},
                                                        {"weight", kNumber},
                                                        {"evidence", kText}}))}});
  all["Violations"] = arrayOf(ref("Violation"));
  all["Explanation"] = object({{"id", kText}, {"state", state()}});
  all["Files"] = object(
      {{"id", kText},
       {"number", kWholeOrNull},
       {"results", arrayOf(kText)},
       {"tasks", arrayOf(object({{"task", kWhole},
                                 {"state", state()},
                                 {"attempt", kWhole},
                                 {"files",
                                  {{"type", {"array", "null"}},
                                   {"items", object({{"path", kText}, {"bytes", kWhole}, {"mode", kText}})}}},
                                 {"problem", kTextOrNull}}))},
       {"task_count", kWhole},
       {"next", kWholeOrNull}});
  all["File"] = {{"type", "string"}, {"format", "binary"}};
  all["Performance"] = object(
      {{"id", kText},
       {"since", time()},
       {"tasks", arrayOf(object({{"task", kWhole},
                                 {"measures", arrayOf(object({{"at", time()}, {"part", kNumber}}))}}))}});
  all["ServerEntry"] = object({{"name", kText},
                               {"platform", kText},
                               {"rack", kText},
                               {"attributes", mapOf(kText)},
                               {"state", kText},
                               {"reason", kTextOrNull},
                               {"cordoned", kYes},
                               {"draining", kYes},
                               {"rus", kWhole},
                               {"free", kWhole},
                               {"emulated", kYes},
                               {"contention", pressures},
                               {"background", pressuresOrNull},
                               {"absent", byResource(kText)},
                               {"missing", arrayOf(kText)}});
  all["Servers"] = arrayOf(ref("ServerEntry"));
  all["Server"] = {
      {"allOf",
       {ref("ServerEntry"), object({{"tasks", arrayOf(object({{"job", kText},
                                                              {"task", kWhole},
                                                              {"rus", arrayOf(kWhole)},
                                                              {"caused", pressures},
                                                              {"charged", pressures},
                                                              {"tolerated", pressures},
                                                              {"over", arrayOf(kText)},
                                                              {"performance", orNull("object")}}))},
                                    {"offences", arrayOf(object({{"resource", kText},
                                                                 {"victims", type("array")},
                                                                 {"offenders", type("array")}}))},
                                    {"troubles", ref("Violations")}})}}};
  all["Queue"] = arrayOf(object({{"id", kText},
                                 {"number", kWholeOrNull},
                                 {"name", kText},
                                 {"user", kText},
                                 {"priority", kWhole},
                                 {"lifted_priority", kWhole},
                                 {"ahead", kWhole},
                                 {"tasks", kWhole},
                                 {"rus_per_task", kWhole},
                                 {"schedule", kText},
                                 {"reason", kTextOrNull},
                                 {"submitted", time()},
                                 {"expected_start", time()}}));
  all["Users"] = arrayOf(object({{"user", kText},
                                 {"shares", kWhole},
                                 {"ru_seconds", kNumber},
                                 {"attempts", kWhole},
                                 {"jobs", mapOf(kWhole)}}));
  all["Profile"] = object({{"application", kText}, {"caused", pressures}, {"tolerated", pressures}});
  all["Profiles"] = arrayOf(
      object({{"application", kText}, {"state", {{"enum", {"stored", "measuring", "failed", "observed"}}}}}));
  all["Settings"] = object({{"target", kNumber},
                            {"rarity", kNumber},
                            {"confidence", kNumber},
                            {"draws", kWhole},
                            {"cap", kWholeOrNull},
                            {"floor", kWhole},
                            {"ratio", kWholeOrNull},
                            {"model", kText},
                            {"contention", kText},
                            {"ranking", kText},
                            {"margin", kWhole},
                            {"noise_floor", kWhole},
                            {"protect_neighbours", kYes},
                            {"version", kWhole}});
  all["SampleTable"] = arrayOf(object({{"p", kNumber},
                                       {"tasks", kWhole},
                                       {"ratio", kNumberOrNull},
                                       {"samples", kWholeOrNull},
                                       {"guarantee", kNumber}}));
  all["Contention"] = object({{"by", {{"enum", {"server", "platform", "rack"}}}},
                              {"resources", arrayOf(kText)},
                              {"next", kTextOrNull},
                              {"rows", arrayOf(object({{"name", kText},
                                                       {"platform", kTextOrNull},
                                                       {"rack", kTextOrNull},
                                                       {"servers", kWhole},
                                                       {"states", mapOf(kWhole)},
                                                       {"units", kWhole},
                                                       {"free_units", kWhole},
                                                       {"slack", pressuresOrNull},
                                                       {"at", byResource(kTextOrNull)},
                                                       {"contention", pressures},
                                                       {"not_measured", pressures}}))}});
  Json observed = object({{"violations", kWhole}, {"performance", kNumber}});
  observed["type"] = {"object", "null"};
  all["Interference"] =
      object({{"applications", arrayOf(object({{"name", kText},
                                               {"tasks", kWhole},
                                               {"violations", kWhole},
                                               {"source", {{"enum", {"stored", "running"}}}}}))},
              {"pairs", arrayOf(object({{"application", kText},
                                        {"beside", kText},
                                        {"s", kNumber},
                                        {"slack", kWhole},
                                        {"resource", kText},
                                        {"observed", std::move(observed)}}))}});
  all["Sharing"] =
      object({{"tasks", kWhole}, {"degraded", kWhole}, {"units_used", kWhole}, {"units_alone", kWhole}});
  all["Submitted"] = object({{"job", kText}, {"number", kWholeOrNull}});
  all["Plan"] = object({{"decision", arrayOf(object({{"task", kWhole}}))},
                        {"placed", kWhole},
                        {"reason", kTextOrNull},
                        {"neighbours", arrayOf(object({{"job", kText},
                                                       {"task", kWhole},
                                                       {"server", kText},
                                                       {"slack_before", pressuresOrNull},
                                                       {"slack_after", pressuresOrNull}}))}});
  Json cancelled = jobName, steered = jobName;
  cancelled["properties"].update({{"cancelled", kYes}, {"state", state()}});
  steered["properties"].update({{"changed", kYes}, {"reason", kText}, {"state", state()}});
  all["Cancelled"] = arrayOf(std::move(cancelled));
  all["Steered"] = arrayOf(std::move(steered));
  all["SteeredServers"] = arrayOf(object({{"name", kText}, {"state", kText}}));
  all["Word"] = object({{"word", kText}, {"expires", time()}});
  all["Session"] =
      object({{"user", kText}, {"role", {{"enum", {"submit", "operate"}}}}, {"expires", time()}});
  all["Log"] = kText;
  all["Events"] = kText;
  all["ReplayOutcome"] = object({{"jobs", kWhole},
                                 {"utilisation", kNumber},
                                 {"response_ms", mapOf(kNumber)},
                                 {"performance", mapOf(kNumber)},
                                 {"quality", mapOf(kNumber)},
                                 {"wait_ms", mapOf(kNumber)}});
  Json recording = object({{"from", time()}, {"until", time()}, {"bytes", kWhole}});
  Json result = object({{"recorded", ref("ReplayOutcome")},
                        {"as_it_is", ref("ReplayOutcome")},
                        {"changed", ref("ReplayOutcome")}});
  Json replay = object({{"state", {{"enum", {"running", "done", "failed", "cancelled"}}}},
                        {"user", kText},
                        {"began", time()},
                        {"ended", time()},
                        {"settings", type("object")},
                        {"progress", kText},
                        {"problem", kTextOrNull},
                        {"result", std::move(result)}});
  for (Json* nullable : {&recording, &replay["properties"]["result"], &replay})
    (*nullable)["type"] = {"object", "null"};
  all["Replay"] = object({{"recording", std::move(recording)}, {"replay", std::move(replay)}});
  all["WordBody"] = object({{"word", kText}});
  all["PriorityBody"] = object({{"priority", {{"type", "integer"}, {"minimum", 0}, {"maximum", 100}}}});
  all["ReplayBody"] = {{"type", "object"},
                       {"additionalProperties", false},
                       {"properties",
                        {{"target", kNumber},
                         {"rarity", kNumber},
                         {"confidence", kNumber},
                         {"cap", kWhole},
                         {"floor", kWhole},
                         {"ratio", kWhole},
                         {"margin", kWhole},
                         {"contention", {{"enum", kContentionModelNames}}},
                         {"ranking", {{"enum", kRankByNames}}}}}};
  all["DrainBody"] = {{"type", "object"}, {"properties", {{"deadline", kText}}}};
  return all;
}

// --- Paths ---

Json schemaOf(const Parameter& parameter) {
  Json schema;
  switch (parameter.kind) {
    case Parameter::Kind::kText:
      schema = kText;
      break;
    case Parameter::Kind::kWhole:
      schema = {{"type", "integer"}, {"minimum", parameter.least}, {"maximum", parameter.most}};
      break;
    case Parameter::Kind::kNumber:
      schema = kNumber;
      break;
    case Parameter::Kind::kFlag:
      schema = kYes;
      break;
    case Parameter::Kind::kWord:
      schema = {{"enum", parameter.words}};
      break;
  }
  return schema;
}

const char* bodySchemaOf(Operation operation) {
  switch (operation) {
    case Operation::kSignIn:
      return "WordBody";
    case Operation::kPriority:
      return "PriorityBody";
    case Operation::kDrain:
      return "DrainBody";
    case Operation::kBeginReplay:
      return "ReplayBody";
    default:
      return "Nothing";
  }
}

const char* typeOfAnswer(Operation operation) {
  if (operation == Operation::kLogs) return "text/plain";
  if (operation == Operation::kFile) return "application/octet-stream";
  return operation == Operation::kEvents ? "text/event-stream" : "application/json";
}

Json operationOf(const Route& route) {
  Json json = {{"summary", route.summary},
               {"tags", {route.method == Method::kGet ? "questions" : "changes"}}};
  Json parameters = Json::array();
  for (const Parameter& parameter : route.parameters) {
    Json one = {{"name", parameter.name},
                {"in", parameter.isInPath ? "path" : "query"},
                {"required", parameter.isInPath},
                {"description", parameter.help},
                {"schema", schemaOf(parameter)}};
    if (*parameter.otherwise != '\0')
      one["description"] = std::string(parameter.help) + " Default: " + parameter.otherwise;
    parameters.push_back(std::move(one));
  }
  if (route.method == Method::kPost) {
    parameters.push_back({{"name", "X-Tarcil"},
                          {"in", "header"},
                          {"required", true},
                          {"description", "Keeps pages of others from sending this."},
                          {"schema", {{"const", "1"}}}});
  }
  json["parameters"] = std::move(parameters);
  if (route.body == Body::kJobFile) {
    json["requestBody"] = {
        {"required", true},
        {"description", "A job file, YAML or JSON (docs/job-file.md)."},
        {"content",
         {{"application/yaml", {{"schema", kText}}}, {"application/json", {{"schema", type("object")}}}}}};
  } else if (route.body != Body::kNone) {
    json["requestBody"] = {
        {"required", route.body == Body::kJson},
        {"content", {{"application/json", {{"schema", ref(bodySchemaOf(route.operation))}}}}}};
  }
  json["responses"] = {{"200",
                        {{"description", route.summary},
                         {"content", {{typeOfAnswer(route.operation), {{"schema", ref(route.answer)}}}}}}},
                       {"default",
                        {{"description", "What went wrong."},
                         {"content", {{"application/json", {{"schema", ref("Error")}}}}}}}};
  if (route.access == Access::kAnyone) json["security"] = Json::array();
  if (route.access == Access::kToken) json["security"] = Json::array({Json{{"token", Json::array()}}});
  return json;
}

Json make() {
  Json paths = Json::object();
  for (const Route& route : routes())
    paths[route.path][route.method == Method::kGet ? "get" : "post"] = operationOf(route);
  const Json token = {{"type", "http"}, {"scheme", "bearer"}};
  const Json session = {{"type", "apiKey"}, {"in", "cookie"}, {"name", "tarcil_session_PORT"}};
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "tarcil"},
            {"version", std::string(version())},
            {"description", "A cluster over HTTP (docs/http.md)."}}},
          {"security", Json::array({Json{{"token", Json::array()}}, Json{{"session", Json::array()}}})},
          {"paths", std::move(paths)},
          {"components",
           {{"securitySchemes", {{"token", token}, {"session", session}}}, {"schemas", schemas()}}}};
}

}  // namespace

const Json& openApi() {
  static const Json kOpenApi = make();
  return kOpenApi;
}

}  // namespace tarcil::gateway
