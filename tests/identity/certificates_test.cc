#include "identity/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/hex.h"

namespace tarcil::certificates_test {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};
constexpr Validity kDay{kNow - 1h, kNow + 24h};

Authority authority(Validity validity = {kNow - 1h, kNow + 24h * 365}) {
  auto made = makeAuthority("c1", validity);
  EXPECT_TRUE(made.ok());
  return *made;
}

struct Issued {
  std::string key, certificate;
};
Issued issued(const Authority& by,
              const Identity& identity = {MemberRole::kMonitor, "s7", 0xfedcba9876543210},
              Validity validity = kDay) {
  const std::string key = *makeKey();
  const auto certificate = issue(by, *makeRequest(key), identity, validity);
  EXPECT_TRUE(certificate.ok()) << certificate.error().message;
  return {key, *certificate};
}

std::string problemOf(const Status& status) {
  return status ? "" : status.error().message;
}

TEST(Certificate, SaysWhomItIsForAndUntilWhen) {
  const Identity identity{MemberRole::kMonitor, std::string(128, 'x'), 0xfedcba9876543210};
  const auto facts = readCertificate(issued(authority(), identity).certificate);
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->identity, identity);
  EXPECT_EQ(facts->validity.from, kDay.from);
  EXPECT_EQ(facts->validity.until, kDay.until);
}

TEST(Certificate, IsGoodForItsKeyAndAuthorityAndTime) {
  const Authority ours = authority(), theirs = authority();
  const Issued good = issued(ours);
  EXPECT_EQ(problemOf(checkCertificate(good.certificate, good.key, ours.certificate, kNow)), "");
  EXPECT_THAT(problemOf(checkCertificate(good.certificate, *makeKey(), ours.certificate, kNow)),
              HasSubstr("of another key"));
  EXPECT_THAT(problemOf(checkCertificate(good.certificate, good.key, theirs.certificate, kNow)),
              HasSubstr("not signed by this authority"));
  EXPECT_THAT(problemOf(checkCertificate(good.certificate, good.key, ours.certificate, kDay.until)),
              HasSubstr("the certificate expired at"));
  EXPECT_THAT(problemOf(checkCertificate(good.certificate, good.key, ours.certificate, kDay.from - 1s)),
              HasSubstr("is not valid before"));
}

TEST(Certificate, ThatSignsAnotherIsNoAuthority) {
  const Authority ours = authority();
  const Issued monitor = issued(ours);
  // The holder of a role's certificate plays the authority.
  const Issued forged = issued({monitor.certificate, monitor.key}, {MemberRole::kMaster, "m", 1});
  const std::string withItsSigner = forged.certificate + monitor.certificate;
  EXPECT_THAT(problemOf(checkCertificate(withItsSigner, forged.key, ours.certificate, kNow)),
              HasSubstr("not signed by this authority"))
      << "no authority is one by standing behind";
  EXPECT_THAT(problemOf(checkCertificate(forged.certificate, forged.key, ours.certificate, kNow)),
              HasSubstr("not signed by this authority"));
}

TEST(Certificate, IsIssuedOnlyToWhoeverHasTheKey) {
  const Authority ours = authority();
  std::string request = *makeRequest(*makeKey());
  // Another signature under the same key: the last characters of the text, before its padding.
  const size_t at = request.rfind("\n-----END") - 6;
  request[at] = request[at] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(issue(ours, request, {MemberRole::kMonitor, "s7", 1}, kDay).ok());
}

TEST(Certificate, OfSomethingElseIsInvalidAndSaysSo) {
  EXPECT_THAT(readCertificate("nonsense").error().message, HasSubstr("no certificate in PEM"));
  EXPECT_THAT(issue(authority(), "nonsense", {}, kDay).error().message,
              HasSubstr("no request for a certificate"));
  EXPECT_THAT(readCertificate(authority().certificate).error().message, HasSubstr("none of a tarcil role"));
  EXPECT_THAT(makeRequest("nonsense").error().message, HasSubstr("no private key"));
}

TEST(Fingerprint, TellsAuthoritiesApart) {
  const Authority one = authority(), other = authority();
  EXPECT_EQ(*fingerprintOf(one.certificate), *fingerprintOf(one.certificate));
  EXPECT_NE(*fingerprintOf(one.certificate), *fingerprintOf(other.certificate));
}

TEST(DigestOf, IsSha256) {
  EXPECT_EQ(hexOf(digestOf("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

RC_GTEST_PROP(Certificate, IsReadFromAnyTextWithoutHarm, (const std::string& text)) {
  RC_ASSERT(!readCertificate("-----BEGIN CERTIFICATE-----\n" + text + "\n-----END CERTIFICATE-----\n").ok());
}

}  // namespace tarcil::certificates_test
