// Which logins of users an agent remembers, and for how long.
#include "agent/server/user_logins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <map>
#include <vector>

#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil::user_logins_test {

using testing::HasSubstr;

// What the master knows of users, and what it is asked.
struct Master {
  std::map<std::string, size_t> asked;                              // by token
  std::map<std::string, kj::Own<kj::PromiseFulfiller<void>>> ends;  // of logins; by token
  std::map<std::string, Caller> callers;                            // where they are not plain submitters
};

class User final : public wire::UserPort::Server {
 public:
  User(Master& master, std::string token) : master_(master), token_(std::move(token)) {}

  kj::Promise<void> loginEnds(LoginEndsContext) override {
    auto paf = kj::newPromiseAndFulfiller<void>();
    master_.ends[token_] = kj::mv(paf.fulfiller);
    return kj::mv(paf.promise);
  }

 private:
  Master& master_;
  const std::string token_;
};

class Port final : public wire::AgentPort::Server {
 public:
  explicit Port(Master& master) : master_(master) {}

  kj::Promise<void> authenticate(AuthenticateContext context) override {
    const std::string token = context.getParams().getToken().cStr();
    ++master_.asked[token];
    if (token == "wrong") return toException(denied("nobody has this token"));
    const auto known = master_.callers.find(token);
    const Caller caller = known != master_.callers.end() ? known->second : Caller{token, Role::kSubmit, {}};
    write(caller, context.getResults().initCaller());
    context.getResults().setUser(kj::heap<User>(master_, token));
    return kj::READY_NOW;
  }

 private:
  Master& master_;
};

class UserLoginsTest : public testing::Test {
 protected:
  UserLoginsTest() { logins_.linked(kj::heap<Port>(master_)); }
  ~UserLoginsTest() noexcept override = default;

  UserLogins::User logIn(const std::string& token) {
    UserLogins::User user = logins_.logIn(shown(token)).wait(io_.waitScope);
    settle();
    return user;
  }
  // What has been called is answered, and what follows from it is done.
  void settle() {
    kj::evalLast([]() {}).wait(io_.waitScope);
  }
  kj::Promise<void> session(const std::string& token) {
    return logins_.untilEnded(shown(token), logIn(token).caller);
  }
  static UserLogins::Proof shown(const std::string& token) { return {.token = token, .localUser = ""}; }
  std::string failure(kj::Promise<void> session) {
    try {
      session.wait(io_.waitScope);
    } catch (const kj::Exception& exception) {
      return fromException(exception).message;
    }
    return "";
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  Master master_;
  kj::TimerImpl timer_{kj::origin<kj::TimePoint>()};
  UserLogins logins_{timer_};
};

TEST_F(UserLoginsTest, AreAskedOfTheMasterOnce) {
  EXPECT_EQ(logIn("ann").caller.user, "ann");
  EXPECT_EQ(logIn("ann").caller.user, "ann");
  EXPECT_EQ(master_.asked["ann"], 1u);
}

TEST_F(UserLoginsTest, ThatAreRefusedAreNotRemembered) {
  for (int i = 0; i < 2; ++i) EXPECT_THROW(logIn("wrong"), kj::Exception);
  EXPECT_EQ(master_.asked["wrong"], 2u);
}

TEST_F(UserLoginsTest, WithoutASessionAreForgottenWhereThereAreTooMany) {
  const auto stands = session("ann");
  for (size_t i = 1; i < UserLogins::kMaxRemembered; ++i) logIn("user " + std::to_string(i));
  logIn("user 1");
  EXPECT_EQ(master_.asked["user 1"], 1u) << "as many as there may be";
  logIn("one more");
  logIn("user 1");
  EXPECT_EQ(master_.asked["user 1"], 2u);
  logIn("ann");
  EXPECT_EQ(master_.asked["ann"], 1u) << "it has a session";
}

TEST_F(UserLoginsTest, EndWhereTheMasterSaysSoAndTheirHolderMayDoSomethingElse) {
  auto ann = session("ann"), bob = session("bob");
  master_.callers["ann"] = {"ann", Role::kRead, {}};
  for (const char* token : {"ann", "bob"}) master_.ends.at(token)->reject(toException(denied("it is over")));
  EXPECT_THAT(failure(kj::mv(ann)), HasSubstr("what ann may do has changed"));
  settle();
  EXPECT_FALSE(bob.poll(io_.waitScope)) << "bob may do what bob did";
  EXPECT_EQ(master_.asked["bob"], 2u);
}

TEST_F(UserLoginsTest, OutliveAMasterThatIsAwayAndAreAskedAgainOfTheNext) {
  auto ann = session("ann");
  logins_.unlinked("away");
  EXPECT_FALSE(ann.poll(io_.waitScope));
  logins_.linked(kj::heap<Port>(master_));
  EXPECT_FALSE(ann.poll(io_.waitScope));
  EXPECT_EQ(master_.asked["ann"], 2u);
}

TEST_F(UserLoginsTest, WaitForTheNextMasterButNotLong) {
  logins_.unlinked("the master is away");
  auto ann = logins_.logIn(shown("ann"));
  EXPECT_FALSE(ann.poll(io_.waitScope));
  logins_.linked(kj::heap<Port>(master_));
  EXPECT_EQ(ann.wait(io_.waitScope).caller.user, "ann");
  logins_.unlinked("the master is away");
  auto bob = logins_.logIn(shown("bob")).ignoreResult();
  timer_.advanceTo(timer_.now() + UserLogins::kMaxWait);
  EXPECT_EQ(failure(kj::mv(bob)), "the master is away");
}

TEST_F(UserLoginsTest, WaitForAMasterNoMoreThanSoMany) {
  logins_.unlinked("the master is away");
  std::vector<kj::Promise<UserLogins::User>> waiting;
  for (size_t i = 0; i < UserLogins::kMaxWaiting; ++i) waiting.push_back(logins_.logIn(shown("ann")));
  EXPECT_EQ(failure(logins_.logIn(shown("ann")).ignoreResult()), "the master is away");
  waiting.pop_back();
  auto inItsPlace = logins_.logIn(shown("ann"));
  EXPECT_FALSE(inItsPlace.poll(io_.waitScope));
}

}  // namespace tarcil::user_logins_test
