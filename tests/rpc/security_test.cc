// TLS between two ends in this process, over a real socket.
#include "rpc/security.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/connection.h"
#include "rpc/errors.h"
#include "schema/master.capnp.h"

namespace tarcil::security_test {

using testing::AnyOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

const Identity kMaster{MemberRole::kMaster, "m", 1};
const Identity kMonitor{MemberRole::kMonitor, "s7", 7};

Validity around(Duration before, Duration after) {
  const WallTime now = systemClock().now().wall;
  return {now - before, now + after};
}

// Answers with whom it takes the peer for, and, as whom they may run jobs, where they call from.
class Gate final : public wire::MonitorPort::Server {
 public:
  explicit Gate(LetIn letIn) : letIn_(std::move(letIn)) {}

 protected:
  kj::Promise<void> authenticate(AuthenticateContext context) override {
    letIn_(Peer::kRole);
    auto caller = context.getResults().initCaller();
    caller.setUser(letIn_.peer() ? described(*letIn_.peer()).c_str() : "nobody");
    caller.initRunAs(1).set(0, letIn_.address().c_str());
    return kj::READY_NOW;
  }

 private:
  const LetIn letIn_;
};

class Tls : public testing::Test {
 protected:
  ~Tls() noexcept override = default;

  static Authority authority() { return *makeAuthority("c1", around(1h, 24h)); }
  Credentials certified(const Identity& identity, Validity validity = around(1h, 1h)) const {
    return certifiedBy(authority_, identity, validity);
  }
  Credentials certifiedBy(const Authority& by, const Identity& identity,
                          Validity validity = around(1h, 1h)) const {
    const std::string key = *makeKey();
    return {authority_.certificate, *issue(by, *makeRequest(key), identity, validity), key};
  }

  Net net(Security* security) {
    return {io_.provider->getNetwork(), *io_.lowLevelProvider, io_.provider->getTimer(), security};
  }
  void serveAs(Security* security, Demand demand = Demand::kCertificate) {
    auto listener = listenAt(net(nullptr).network, net(nullptr).io, "127.0.0.1:0").wait(io_.waitScope);
    address_ = listener.address;
    serving_ = serve(
                   net(nullptr).timer, kj::mv(listener.receiver),
                   [](LetIn letIn) -> capnp::Capability::Client { return kj::heap<Gate>(std::move(letIn)); },
                   security, demand)
                   .eagerlyEvaluate(nullptr);
  }
  // Whom the server takes the peer for, or what it failed with.
  std::string talk(Security* security, const Expected& whom = {}) {
    try {
      connection_ = connect(net(security), address_, whom).wait(io_.waitScope);
      auto port = connection_->bootstrap().castAs<wire::MonitorPort>();
      return port.authenticateRequest().send().wait(io_.waitScope).getCaller().getUser().cStr();
    } catch (const kj::Exception& exception) {
      return fromException(exception).message;
    }
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  Authority authority_ = authority();
  Security master_{systemClock(), Trust{certified(kMaster)}};
  Security monitor_{systemClock(), Trust{certified(kMonitor)}};
  std::string address_;
  kj::Promise<void> serving_ = nullptr;
  kj::Own<Connection> connection_;
};

TEST_F(Tls, TellsEachEndWhoTheOtherIs) {
  serveAs(&master_);
  EXPECT_EQ(talk(&monitor_), "monitor s7");
}

TEST_F(Tls, KeepsWhereThePeerCallsFrom) {
  serveAs(&master_);
  ASSERT_EQ(talk(&monitor_), "monitor s7");
  const auto answer =
      connection_->bootstrap().castAs<wire::MonitorPort>().authenticateRequest().send().wait(io_.waitScope);
  EXPECT_EQ(answer.getCaller().getRunAs()[0], "127.0.0.1");
}

TEST_F(Tls, CarriesMessagesOfAnySize) {
  serveAs(&master_);
  ASSERT_EQ(talk(&monitor_), "monitor s7");
  auto request = connection_->bootstrap().castAs<wire::MonitorPort>().authenticateRequest();
  request.setToken(std::string(10 << 20, 'x').c_str());
  EXPECT_EQ(request.send().wait(io_.waitScope).getCaller().getUser(), "monitor s7");
}

TEST_F(Tls, LeavesAPeerWithoutACertificateOutsideWhereOneIsDemanded) {
  serveAs(&master_);
  Security user(systemClock(), Trust{Credentials{authority_.certificate}});
  EXPECT_THAT(talk(&user), HasSubstr("asks for a certificate"));
}

TEST_F(Tls, TakesAPeerWithoutACertificateWhereNoneIsDemanded) {
  serveAs(&master_, Demand::kNothing);
  Security user(systemClock(), Trust{Credentials{authority_.certificate}});
  EXPECT_EQ(talk(&user), "nobody");
}

TEST_F(Tls, RefusesACertificateOfAnotherAuthority) {
  serveAs(&master_);
  Security foreign(systemClock(), Trust{certifiedBy(authority(), kMonitor)});
  EXPECT_THAT(talk(&foreign), HasSubstr("our certificate is not of its authority"));
  Security impostor(systemClock(), Trust{certifiedBy(authority(), kMaster)});
  serveAs(&impostor);
  EXPECT_THAT(talk(&monitor_), HasSubstr("of another cluster's authority"));
}

TEST_F(Tls, RefusesACertificateThatARolesCertificateSigned) {
  const Credentials role = certified(kMonitor);
  Security forged(systemClock(), Trust{certifiedBy({role.certificate, role.key}, kMaster)});
  serveAs(&forged);
  EXPECT_THAT(talk(&monitor_), HasSubstr("cannot connect"));
}

TEST_F(Tls, EndsAConnectionWithTheCertificateOfWhoeverDialled) {
  serveAs(&master_);
  Security soon(systemClock(), Trust{certified(kMonitor, around(1h, 2s))});
  ASSERT_EQ(talk(&soon), "monitor s7");
  // What its owner has by then does not count.
  soon.renew(certified(kMonitor));
  connection_->onDisconnect().wait(io_.waitScope);
  EXPECT_EQ(talk(&soon), "monitor s7") << "it comes back with the next";
}

TEST_F(Tls, EndsAConnectionWithTheCertificateOfWhoeverListens) {
  Security soon(systemClock(), Trust{certified(kMaster, around(1h, 2s))});
  serveAs(&soon);
  ASSERT_EQ(talk(&monitor_), "monitor s7");
  connection_->onDisconnect().wait(io_.waitScope);
}

TEST_F(Tls, HasNoIdentityOfACertificateThatNamesNoRole) {
  const Authority own = authority();
  Security alone(systemClock(), Trust{Credentials{authority_.certificate}});
  EXPECT_ANY_THROW(alone.renew({authority_.certificate, own.certificate, own.key}));
}

TEST_F(Tls, RefusesACertificateOutsideItsTimeAndSpeaksOfClocks) {
  Security expired(systemClock(), Trust{certified(kMonitor, around(2h, -1h))});
  serveAs(&master_);
  EXPECT_THAT(talk(&expired),
              AllOf(HasSubstr("our certificate has expired"), HasSubstr("clocks of both machines")));
  Security early(systemClock(), Trust{certified(kMonitor, around(-1h, 2h))});
  EXPECT_THAT(talk(&early), HasSubstr("is it valid yet, by the clocks of both machines?"));
  Security late(systemClock(), Trust{certified(kMaster, around(2h, -1h))});
  serveAs(&late);
  EXPECT_THAT(talk(&monitor_), AllOf(HasSubstr("has expired"), HasSubstr("this machine's clock")));
  Security tomorrow(systemClock(), Trust{certified(kMaster, around(-1h, 2h))});
  serveAs(&tomorrow);
  EXPECT_THAT(talk(&monitor_),
              AllOf(HasSubstr("not valid yet"), HasSubstr("is this machine's clock right?")));
}

TEST_F(Tls, ExpectsTheRoleAndTheNameThatAreDialled) {
  serveAs(&monitor_);
  EXPECT_THAT(talk(&master_), HasSubstr("for another role"));
  EXPECT_THAT(talk(&master_, {MemberRole::kMonitor, "s8"}), HasSubstr("the peer is monitor s7, and not s8"));
  EXPECT_EQ(talk(&master_, {MemberRole::kMonitor, "s7"}), "master m");
}

TEST_F(Tls, EndsTheConnectionsOfARevokedCertificateAtBothEnds) {
  serveAs(&master_);
  ASSERT_EQ(talk(&monitor_), "monitor s7");
  auto gone = connection_->onDisconnect();
  master_.setRevoked({kMonitor.serial});
  gone.wait(io_.waitScope);
  monitor_.setRevoked({kMaster.serial});
  EXPECT_THAT(talk(&monitor_), HasSubstr("the certificate of master m is revoked"));
}

TEST_F(Tls, EndsAConnectionWhoseListenerIsRevoked) {
  serveAs(&master_);
  ASSERT_EQ(talk(&monitor_), "monitor s7");
  auto gone = connection_->onDisconnect();
  monitor_.setRevoked({99});
  io_.waitScope.poll();
  EXPECT_FALSE(gone.poll(io_.waitScope));
  monitor_.setRevoked({kMaster.serial});
  gone.wait(io_.waitScope);
}

TEST_F(Tls, GoesOnOverARenewal) {
  serveAs(&master_);
  ASSERT_EQ(talk(&monitor_), "monitor s7");
  kj::Own<Connection> before = kj::mv(connection_);
  master_.renew(certified({MemberRole::kMaster, "m", 2}));
  monitor_.renew(certified({MemberRole::kMonitor, "s7", 8}));
  EXPECT_EQ(talk(&monitor_), "monitor s7");
  auto port = before->bootstrap().castAs<wire::MonitorPort>();
  EXPECT_EQ(port.authenticateRequest().send().wait(io_.waitScope).getCaller().getUser(), "monitor s7");
}

TEST_F(Tls, SaysWhereThePeerSpeaksNone) {
  serveAs(nullptr);
  EXPECT_THAT(talk(&monitor_), AnyOf(HasSubstr("does not speak TLS"), HasSubstr("ended the connection")));
}

TEST_F(Tls, IsNotSpokenByAStrangerWhoIsDropped) {
  serveAs(&master_);
  EXPECT_NE(talk(nullptr), "nobody");
}

TEST_F(Tls, GreetsWhoeverJoinsWithTheAuthorityAndTheTime) {
  serveAs(&master_, Demand::kJoining);
  auto stream = connectTo(net(nullptr).network, net(nullptr).io, address_).wait(io_.waitScope);
  const Greeting greeting = readGreeting(*stream).wait(io_.waitScope);
  EXPECT_EQ(greeting.authority, authority_.certificate);
  EXPECT_LT(std::chrono::abs(greeting.now - systemClock().now().wall), 1min);
}

TEST(Plain, IsRefusedForOtherMachinesUnlessWanted) {
  const Security plain(systemClock(), Trust{std::nullopt}),
      insecure(systemClock(), Trust{std::nullopt, true});
  EXPECT_TRUE(plain.mayUse("127.0.0.1:7001").ok());
  EXPECT_TRUE(plain.mayUse("unix:/run/master.sock").ok());
  EXPECT_THAT(plain.mayUse("10.0.0.1:7001").error().message,
              AllOf(HasSubstr("10.0.0.1:7001"), HasSubstr("--insecure")));
  EXPECT_TRUE(insecure.mayUse("10.0.0.1:7001").ok());
}

}  // namespace tarcil::security_test
