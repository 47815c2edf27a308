// The description has what is served.
#include "gateway/server/openapi.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "gateway/logic/routes.h"

namespace tarcil::gateway::openapi_test {

TEST(OpenApi, HasEveryRouteWithItsParameters) {
  size_t operations = 0;
  for (const auto& [path, methods] : openApi().at("paths").items()) operations += methods.size();
  EXPECT_EQ(operations, routes().size());
  for (const Route& route : routes()) {
    const Json& described =
        openApi().at("paths").at(route.path).at(route.method == Method::kGet ? "get" : "post");
    size_t parameters = route.parameters.size() + (route.method == Method::kPost ? 1 : 0);
    EXPECT_EQ(described.at("parameters").size(), parameters) << route.path;
    EXPECT_EQ(described.contains("requestBody"), route.body != Body::kNone) << route.path;
    EXPECT_TRUE(described.at("responses").contains("200")) << route.path;
  }
}

TEST(OpenApi, RefersToNothingThatIsNotThere) {
  const std::string before = "#/components/schemas/";
  size_t found = 0;
  const std::function<void(const Json&)> look = [&](const Json& json) {
    if (json.is_object() && json.contains("$ref")) {
      const std::string name = json.at("$ref").get<std::string>();
      ASSERT_TRUE(name.starts_with(before)) << name;
      EXPECT_TRUE(openApi().at("components").at("schemas").contains(name.substr(before.size()))) << name;
      ++found;
    }
    for (const Json& part : json) {
      if (part.is_structured()) look(part);
    }
  };
  look(openApi());
  EXPECT_GT(found, routes().size());
}

}  // namespace tarcil::gateway::openapi_test
