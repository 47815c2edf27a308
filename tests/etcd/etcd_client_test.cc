// The client against a real etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "etcd/client.h"
#include "tests/support/etcd_cluster.h"

namespace tarcil::etcd_client_test {

using namespace std::chrono_literals;
using etcd::Compare;
using etcd::Operation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using What = Operation::What;

constexpr Duration kLong = 20s;

etcd::Transaction putting(const std::string& key, const std::string& value) {
  return {{}, {{.what = What::kPut, .key = key, .value = value}}, {}};
}

// What `call` answers in the end: members that are dead, or that choose a leader, may refuse any number of
// calls at once.
template <typename Call>
auto answerOf(const Call& call) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  auto answer = call();
  while (!answer.ok() && answer.error().code == ErrorCode::kUnavailable &&
         std::chrono::steady_clock::now() < end)
    answer = call();
  return answer;
}

TEST(EtcdClient, WritesWhereTheComparisonHoldsAndReadsWhereNot) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster cluster;
  const auto client = cluster.client();
  const etcd::Transaction make{{{Compare::What::kCreated, "/a", 0}},
                               {{.what = What::kPut, .key = "/a", .value = std::string("b\0c", 3)}},
                               {{.what = What::kGet, .key = "/a"}}};
  const auto first = client->commit(make, kLong);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(first->held);
  const auto second = client->commit(make, kLong);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_FALSE(second->held);
  ASSERT_EQ(second->found.at(0).size(), 1u);
  EXPECT_EQ(second->found[0][0].value, std::string("b\0c", 3));
  EXPECT_EQ(second->found[0][0].created, first->revision);
}

TEST(EtcdClient, GivesARangeInPagesAsItWasAtARevision) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster cluster;
  const auto client = cluster.client();
  int64_t revision = 0;
  for (const char* key : {"/a/1", "/a/2", "/a/3", "/b"})
    revision = client->commit(putting(key, "old"), kLong)->revision;
  ASSERT_TRUE(client->commit(putting("/a/3", "new"), kLong).ok());
  auto page = client->get({.key = "/a/", .end = etcd::endOf("/a/"), .limit = 2, .revision = revision}, kLong);
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->revision, revision) << "the next page is of the same";
  EXPECT_EQ(page->records.at(1).key, "/a/2");
  page = client->get(
      {.key = "/a/2" + std::string(1, '\0'), .end = etcd::endOf("/a/"), .limit = 2, .revision = revision},
      kLong);
  EXPECT_FALSE(page->more);
  ASSERT_EQ(page->records.size(), 1u);
  EXPECT_EQ(page->records[0].value, "old");
}

TEST(EtcdClient, SaysThatWhatIsAskedForHasBeenCompacted) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster cluster;
  const auto client = cluster.client();
  const int64_t old = client->commit(putting("/a", "1"), kLong)->revision;
  const int64_t now = client->commit(putting("/a", "2"), kLong)->revision;
  ASSERT_TRUE(client->compact(now, kLong).ok());
  EXPECT_EQ(client->get({.key = "/a", .revision = old}, kLong).error().code, ErrorCode::kConflict);
  const Status watched =
      client->watch({.key = "/a", .revision = old}, kLong, [](const auto&, int64_t) { return true; });
  ASSERT_FALSE(watched.ok());
  EXPECT_EQ(watched.error().code, ErrorCode::kConflict);
}

TEST(EtcdClient, FollowsAKeyUntilItIsErasedWithItsLease) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster cluster;
  const auto client = cluster.client();
  const auto lease = client->grant(2s, kLong);
  ASSERT_TRUE(lease.ok()) << lease.error().message;
  EXPECT_GE(lease->life, 2s);
  const int64_t revision =
      client
          ->commit({{}, {{.what = What::kPut, .key = "/leader", .value = "me", .lease = lease->id}}, {}},
                   kLong)
          ->revision;
  EXPECT_GE(client->renew(lease->id, kLong)->life, 2s);
  ASSERT_TRUE(client->revoke(lease->id, kLong).ok());
  std::vector<bool> erased;
  const Status watched =
      client->watch({.key = "/leader", .revision = revision}, kLong, [&](const auto& events, int64_t) {
        for (const etcd::Event& event : events) erased.push_back(event.erased);
        return !erased.back();
      });
  ASSERT_TRUE(watched.ok()) << watched.error().message;
  EXPECT_THAT(erased, ElementsAre(false, true));
  EXPECT_EQ(client->renew(lease->id, kLong)->life, Duration::zero()) << "it has ended";
}

TEST(EtcdClient, FollowsForAsLongAsItIsToldWhereNothingHappens) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster cluster({.members = 3});
  const auto client = cluster.client();
  const int64_t revision = client->commit(putting("/a", "1"), kLong)->revision;
  for (int time = 0; time < 10; ++time) {
    const Status watched = client->watch({.key = "/a", .revision = revision + 1}, 500ms,
                                         [](const auto&, int64_t) { return true; });
    EXPECT_TRUE(watched.ok()) << watched.error().message;
  }
}

TEST(EtcdClient, AsksAnotherMemberWhereOneIsDead) {
  SKIP_WITHOUT_ETCD();
  EtcdCluster cluster({.members = 3});
  const auto client = cluster.client();
  ASSERT_TRUE(client->commit(putting("/a", "1"), kLong).ok());
  cluster.kill(0);
  const auto written = answerOf([&] { return client->commit(putting("/a", "2"), 1s); });
  ASSERT_TRUE(written.ok()) << written.error().message;
  const auto found = answerOf([&] { return client->get({.key = "/a"}, 1s); });
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->records.at(0).value, "2");
}

TEST(EtcdClient, SaysNoMoreThanThatNobodyAnswers) {
  SKIP_WITHOUT_ETCD();
  EtcdCluster cluster;
  const auto client = cluster.client();
  cluster.kill(0);
  const auto outcome = client->commit(putting("/a", "1"), 200ms);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(outcome.error().message, HasSubstr(cluster.urls()[0]));
}

TEST(EtcdClient, SaysThatEtcdHasNoSpaceLeft) {
  SKIP_WITHOUT_ETCD();
  const EtcdCluster cluster({.quota = 8 << 20});
  const auto client = cluster.client();
  const std::string large(1 << 20, 'x');
  Result<etcd::Outcome> outcome = etcd::Outcome{};
  for (int i = 0; outcome.ok(); ++i) {
    ASSERT_LT(i, 20);
    outcome = client->commit(putting("/" + std::to_string(i), large), kLong);
  }
  EXPECT_EQ(outcome.error().code, ErrorCode::kExhausted) << outcome.error().message;
}

class EtcdWithUsers : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ETCD();
    cluster_ = std::make_unique<EtcdCluster>();
    cluster_->control({"user", "add", "root:secret"});
    cluster_->control({"user", "add", "tarcil:word"});
    cluster_->control({"role", "add", "tarcil"});
    cluster_->control({"role", "grant-permission", "tarcil", "--prefix=true", "readwrite", "/tarcil/"});
    cluster_->control({"user", "grant-role", "tarcil", "tarcil"});
    cluster_->control({"auth", "enable"});
  }

  std::unique_ptr<EtcdCluster> cluster_;
};

TEST_F(EtcdWithUsers, TakesTheRightPasswordAndRefusesAnother) {
  const auto right = EtcdCluster::client({.urls = cluster_->urls(), .user = "tarcil", .password = "word"});
  const auto written = right->commit(putting("/tarcil/a", "1"), kLong);
  EXPECT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(right->commit(putting("/other", "1"), kLong).error().code, ErrorCode::kDenied)
      << "it may not write there";
  const auto wrong = EtcdCluster::client({.urls = cluster_->urls(), .user = "tarcil", .password = "worn"});
  EXPECT_EQ(wrong->get({.key = "/tarcil/a"}, kLong).error().code, ErrorCode::kDenied);
  EXPECT_EQ(cluster_->client()->get({.key = "/tarcil/a"}, kLong).error().code, ErrorCode::kDenied);
}

TEST_F(EtcdWithUsers, AsksForATokenAgainWhereEtcdForgotIt) {
  const auto client = EtcdCluster::client({.urls = cluster_->urls(), .user = "tarcil", .password = "word"});
  ASSERT_TRUE(client->commit(putting("/tarcil/a", "1"), kLong).ok());
  cluster_->kill(0);
  cluster_->start(0);
  const auto found = answerOf([&] { return client->get({.key = "/tarcil/a"}, 1s); });
  EXPECT_TRUE(found.ok()) << found.error().message;
}

// Over TLS, and with a certificate of the client's own.
class EtcdOverTls : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_ETCD();
    if (!std::filesystem::exists("/usr/bin/openssl")) GTEST_SKIP() << "openssl is not installed";
    make("etcd");
    make("stranger");
    cluster_ = std::make_unique<EtcdCluster>(
        EtcdPlan{.arguments = {"--cert-file", at("etcd.pem"), "--key-file", at("etcd.key"),
                               "--client-cert-auth", "--trusted-ca-file", at("etcd.pem")},
                 .scheme = "https"});
  }
  // A certificate that is signed by itself, and its key.
  void make(const std::string& name) {
    const ProcessResult made =
        runProcess({"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=" + name, "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", at(name + ".key"), "-out", at(name + ".pem")},
                   {});
    ASSERT_EQ(made.exitCode, 0) << made.err;
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  std::unique_ptr<etcd::Client> client(const std::string& authority, const std::string& own) {
    return EtcdCluster::client({.urls = cluster_->urls(),
                                .authority = at(authority + ".pem"),
                                .certificate = own.empty() ? "" : at(own + ".pem"),
                                .key = own.empty() ? "" : at(own + ".key")});
  }

  const TemporaryFolder folder_;
  std::unique_ptr<EtcdCluster> cluster_;
};

TEST_F(EtcdOverTls, BelievesTheAuthorityAndIsBelieved) {
  const auto written = client("etcd", "etcd")->commit(putting("/a", "1"), kLong);
  EXPECT_TRUE(written.ok()) << written.error().message;
}

TEST_F(EtcdOverTls, IsRefusedWithoutACertificateAndBelievesNoOtherAuthority) {
  ASSERT_TRUE(client("etcd", "etcd")->commit(putting("/a", "1"), kLong).ok()) << "it has started";
  EXPECT_FALSE(client("etcd", "")->get({.key = "/a"}, 1s).ok());
  const auto believed = client("stranger", "etcd")->get({.key = "/a"}, 1s);
  ASSERT_FALSE(believed.ok());
  EXPECT_THAT(believed.error().message, HasSubstr("andshake"))
      << "the reason, and not only that it took long";
}

TEST(EtcdAccess, SaysWhatIsWrongWithIt) {
  SKIP_WITHOUT_ETCD();
  const auto problem = [](const etcd::Access& access) -> std::string {
    try {
      EtcdCluster::client(access);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(problem({}), HasSubstr("no URL of etcd is given"));
  EXPECT_THAT(problem({.urls = {"10.0.0.1:2379"}}),
              HasSubstr("'10.0.0.1:2379' is no URL of etcd; write http://host:port"));
  EXPECT_THAT(problem({.urls = {"http://a:1", "https://b:1"}}),
              HasSubstr("some URLs of etcd are http and some https"));
  EXPECT_THAT(problem({.urls = {"http://a:1"}, .authority = "ca.pem"}), HasSubstr("write https://"));
  EXPECT_THAT(problem({.urls = {"https://a:1"}, .authority = "/nowhere.pem"}),
              HasSubstr("/nowhere.pem: the authority's certificate"));
}

}  // namespace tarcil::etcd_client_test
