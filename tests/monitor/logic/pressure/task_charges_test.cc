#include "monitor/logic/pressure/task_charges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tarcil::task_charges_test {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kDisk = static_cast<size_t>(Resource::kDiskBandwidth);

MeasuredPressure onDisk(double value) {
  const Error absent = notFound("not measured");
  MeasuredPressure measured{absent, absent, absent, absent, absent, absent, absent, absent, absent, absent};
  measured[kDisk] = value;
  return measured;
}

// Measures once a second.
struct MeasuredTask : testing::Test {
  TaskCharges charges{ChargeOptions()};
  MonotonicTime now{};
  int told = 0;

  void measure(double disk, int seconds) {
    for (int i = 0; i < seconds; ++i) take({{1, onDisk(disk)}});
  }
  void take(const std::map<AllocationId, MeasuredPressure>& measured) {
    now += 1s;
    told += charges.take(measured, now);
  }
  int disk() const { return charges.reports().at(0).caused[kDisk]; }
};

TEST_F(MeasuredTask, IsNotToldBeforeItWasMeasuredForLongEnough) {
  measure(80, 5);
  EXPECT_THAT(charges.reports(), IsEmpty());
  EXPECT_EQ(told, 0);
  measure(80, 1);
  ASSERT_THAT(charges.reports(), SizeIs(1));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(disk(), 80);
  EXPECT_EQ(charges.reports()[0].measured, ResourceSet().set(kDisk));
}

TEST_F(MeasuredTask, GoesUpWithinSecondsAndDownOverMinutes) {
  measure(5, 10);
  measure(80, 6);
  EXPECT_GE(disk(), 70);
  measure(80, 60);
  measure(5, 10);
  EXPECT_GE(disk(), 65);
  measure(5, 300);
  EXPECT_LE(disk(), 8);
}

TEST_F(MeasuredTask, ThatPressesNowAndThenIsChargedForMostOfWhatItDoesThen) {
  for (int i = 0; i < 20; ++i) {
    measure(80, 5);
    measure(0, 15);
  }
  EXPECT_GE(disk(), 50);
}

TEST_F(MeasuredTask, IsToldOnceWhileItStaysTheSame) {
  measure(40, 1000);
  EXPECT_EQ(told, 1);
}

TEST_F(MeasuredTask, ThatIsGoneIsForgotten) {
  measure(40, 10);
  take({});
  EXPECT_THAT(charges.reports(), IsEmpty());
  measure(40, 5);
  EXPECT_THAT(charges.reports(), IsEmpty()) << "it begins anew";
}

TEST_F(MeasuredTask, WhatIsNoPressureIsClampedAndWhatIsNoNumberIsAbsent) {
  measure(std::numeric_limits<double>::infinity(), 10);
  EXPECT_EQ(disk(), kMaxPressure);
  measure(-1e300, 1000);
  EXPECT_EQ(disk(), 0);
  measure(std::nan(""), 10);
  EXPECT_TRUE(charges.reports().at(0).measured.none());
  measure(30, 10);
  EXPECT_EQ(disk(), 30) << "it starts over";
}

TEST_F(MeasuredTask, OneOfManyIsEnoughToTell) {
  for (int i = 0; i < 10; ++i) take({{1, onDisk(10)}, {2, onDisk(20)}});
  ASSERT_THAT(charges.reports(), SizeIs(2));
  EXPECT_EQ(told, 1);
  for (int i = 0; i < 5; ++i) take({{1, onDisk(10)}, {2, onDisk(60)}});
  EXPECT_GT(told, 1);
  EXPECT_EQ(charges.reports()[0].caused[kDisk], 10);
  EXPECT_GT(charges.reports()[1].caused[kDisk], 40);
}

}  // namespace tarcil::task_charges_test
