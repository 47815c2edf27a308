// What a user asks a master that has more to tell than goes into one message.
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include "master/server/master_ports.h"
#include "master/store/memory_store.h"
#include "schema/convert_profile.h"

namespace tarcil::user_port_test {

constexpr size_t kMostBytes = 3 << 19;  // of an answer: what it is to have, and half as much

std::string numbered(const std::string& name, size_t number) {
  return name + std::to_string(100'000 + number);
}

// A master on such a store.
class UserPort : public testing::Test {
 protected:
  ~UserPort() noexcept override = default;

  void start(StoreContents contents) {
    server_ = std::make_unique<MasterServer>(net_, systemClock(), Rng(1), store_, std::move(contents),
                                             TokenTable{}, MasterOptions{},
                                             [](const Error& error) { ADD_FAILURE() << error.message; });
  }
  wire::UserPort::Client port(const Caller& caller) {
    return makeUserPort(*server_, caller, ShownToken{}, {}, Transport::kNetwork);
  }

  // Every name that the answers to `ask(after)` hold, in their order.
  template <typename Ask, typename NamesOf>
  std::vector<std::string> askByName(Ask ask, NamesOf namesOf) {
    std::vector<std::string> names;
    std::string after;
    do {
      auto answer = ask(after).wait(io_.waitScope);
      EXPECT_LE(answer.totalSize().wordCount * sizeof(capnp::word), kMostBytes);
      for (const std::string& name : namesOf(answer)) names.push_back(name);
      after = answer.getNext().cStr();
      ++answers_;
    } while (!after.empty());
    return names;
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  const Net net_{io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer()};
  MemoryStore store_;
  std::unique_ptr<MasterServer> server_;
  size_t answers_ = 0;
  const Caller operator_{"root", Role::kOperate, {}};
};

TEST_F(UserPort, TellsUsersAgentsAndPlatformsInPages) {
  constexpr size_t kEntries = 2'500;
  StoreContents contents;
  std::vector<std::string> names;
  for (size_t i = 0; i < kEntries; ++i) {
    names.push_back(numbered("n", i));
    contents.usage.push_back({.user = names.back()});
    contents.agents.push_back({names.back(), 1});
    contents.platforms.push_back({names.back(), fullShare()});
  }
  start(std::move(contents));
  wire::UserPort::Client all = port(operator_);
  const auto askUsage = [&all](const std::string& after) {
    auto request = all.usageRequest();
    request.setAfter(after.c_str());
    return request.send();
  };
  const auto usersOf = [](const auto& answer) {
    std::vector<std::string> users;
    for (auto user : answer.getUsers()) users.emplace_back(user.getUser().cStr());
    return users;
  };
  EXPECT_EQ(askByName(askUsage, usersOf), names);
  const auto askAgents = [&all](const std::string& after) {
    auto request = all.agentsRequest();
    request.setAfter(after.c_str());
    return request.send();
  };
  const auto agentsOf = [](const auto& answer) {
    std::vector<std::string> agents;
    for (auto agent : answer.getAgents()) agents.emplace_back(agent.getName().cStr());
    return agents;
  };
  EXPECT_EQ(askByName(askAgents, agentsOf), names);
  const auto askPlatforms = [&all](const std::string& after) {
    auto request = all.platformsRequest();
    request.setAfter(after.c_str());
    return request.send();
  };
  const auto platformsOf = [](const auto& answer) {
    std::vector<std::string> platforms;
    for (auto platform : answer.getPlatforms()) platforms.emplace_back(platform.getName().cStr());
    return platforms;
  };
  EXPECT_EQ(askByName(askPlatforms, platformsOf), names);
  EXPECT_EQ(answers_, 9u);
}

// As `profiles` tells them: stored ones by name, then what is measured, then what was observed.
struct Told {
  std::vector<std::string> stored, profilings, observed;
  size_t answers = 0;
};

Told askForProfiles(wire::UserPort::Client port, kj::WaitScope& scope) {
  Told told;
  kj::Maybe<capnp::Response<wire::UserPort::ProfilesResults>> before;
  while (true) {
    auto request = port.profilesRequest();
    KJ_IF_MAYBE (last, before) request.setAfter(last->getNext());
    auto answer = request.send().wait(scope);
    EXPECT_LE(answer.totalSize().wordCount * sizeof(capnp::word), kMostBytes);
    for (auto each : answer.getProfiles()) told.stored.emplace_back(read(each).profile.application);
    for (auto each : answer.getProfilings()) told.profilings.emplace_back(read(each).application);
    for (auto each : answer.getObserved())
      told.observed.emplace_back(read(each).user + read(each).application);
    ++told.answers;
    if (!answer.hasNext()) return told;
    before = kj::mv(answer);
  }
}

TEST_F(UserPort, TellsProfilesInPagesOfBoundedBytes) {
  constexpr size_t kEach = 1'000;
  StoreContents contents;
  Told expected;
  for (size_t i = 0; i < kEach; ++i) {
    StoredProfile stored;
    stored.profile.application = numbered("stored", i);
    stored.note = std::string(kMaxNoteBytes, 'n');
    stored.history.resize(i % kMaxLessons);
    expected.stored.push_back(stored.profile.application);
    contents.profiles.push_back(std::move(stored));
    contents.profilings.push_back({.application = numbered("measured", i), .job = {}, .user = "alice"});
    expected.profilings.push_back(contents.profilings.back().application);
    ObservedProfile observed{.application = numbered("observed", i), .user = i < kEach / 2 ? "alice" : "bob"};
    observed.performances.resize(kMaxObservedPerformances);
    expected.observed.push_back(observed.user + observed.application);
    contents.observed.push_back(std::move(observed));
  }
  start(std::move(contents));
  const Told told = askForProfiles(port(operator_), io_.waitScope);
  EXPECT_EQ(told.stored, expected.stored);
  EXPECT_EQ(told.profilings, expected.profilings);
  EXPECT_EQ(told.observed, expected.observed);
  EXPECT_GE(told.answers, 5u);
  const Told ofBob = askForProfiles(port({"bob", Role::kSubmit, {}}), io_.waitScope);
  EXPECT_EQ(ofBob.stored, expected.stored);
  EXPECT_EQ(ofBob.observed, std::vector(expected.observed.begin() + kEach / 2, expected.observed.end()));
}

TEST_F(UserPort, TellsServersInPagesOfBoundedBytes) {
  constexpr ServerId kServers = 40;
  StoreContents contents;
  for (ServerId id = 0; id < kServers; ++id) {
    ServerRecord server{.id = id, .facts = {}, .monitor = "m"};
    server.facts.name = numbered("s", id);
    server.facts.platform = "p";
    server.facts.rus = 1;
    server.facts.attributes["long"] = std::string(100'000, 'x');
    contents.servers.push_back(std::move(server));
  }
  start(std::move(contents));
  std::vector<std::string> names;
  ServerId next = 0;
  size_t answers = 0;
  do {
    auto request = port(operator_).serversRequest();
    request.setFirst(next);
    auto answer = request.send().wait(io_.waitScope);
    EXPECT_LE(answer.totalSize().wordCount * sizeof(capnp::word), kMostBytes);
    for (auto server : answer.getServers()) names.emplace_back(server.getFacts().getName().cStr());
    next = answer.getNext();
    ++answers;
  } while (next != 0);
  ASSERT_EQ(names.size(), kServers);
  for (ServerId id = 0; id < kServers; ++id) EXPECT_EQ(names[id], numbered("s", id));
  EXPECT_EQ(answers, 4u);
}

}  // namespace tarcil::user_port_test
