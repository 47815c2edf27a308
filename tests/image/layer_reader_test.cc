#include "image/layer_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/image_layout.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::layer_reader_test {

using namespace image;
using testing::HasSubstr;

class LayerReader : public testing::Test {
 protected:
  std::string problemOf(const std::string& bytes, LayerBounds bounds = {1 << 20, 100}) {
    const std::string path = folder_.path() + "/layer";
    std::ofstream(path, std::ios::binary) << bytes;
    rules_.emplace(bounds);
    const Status checked = checkLayer(path, *rules_);
    return checked.ok() ? "" : checked.error().message;
  }
  uint64_t bytes() const { return rules_->bytes(); }

 private:
  TemporaryFolder folder_;
  std::optional<LayerRules> rules_;
};

TEST_F(LayerReader, HoldsEachEntryAgainstTheRules) {
  EXPECT_EQ(problemOf(layerOf({{"bin/", "", 'd'}, {"bin/sh", "12345"}, {"sh", "bin/sh", 's'}})), "");
  EXPECT_EQ(bytes(), 5u);
  EXPECT_THAT(problemOf(layerOf({{"a", "x"}, {"dev/null", "", 'c'}})),
              HasSubstr("has an entry 'dev/null' that is a device"));
  EXPECT_THAT(problemOf(layerOf({{"a", "x"}, {"../../etc/cron.d/x", "x"}})), HasSubstr("has .. in it"));
  EXPECT_THAT(problemOf(layerOf({{"x", "../../etc/shadow", 'h'}})), HasSubstr("is a link to"));
  EXPECT_THAT(problemOf(layerOf({{"a", std::string(2'000, 'x')}}), {1'000, 9}), HasSubstr("takes more than"));
}

TEST_F(LayerReader, RefusesWhatEndsEarlyOrIsNoArchive) {
  const std::string whole = layerOf({{"a", std::string(20'000, 'x')}, {"b", "y"}});
  for (const size_t size : {size_t{600}, size_t{5'000}, size_t{20'400}})
    EXPECT_THAT(problemOf(whole.substr(0, size)), HasSubstr("is no archive that can be read to its end"))
        << size;
  EXPECT_EQ(problemOf(whole.substr(0, 20'512)), "") << "what fills up the last record is often left out";
  EXPECT_THAT(problemOf("not an archive at all"), HasSubstr("is no archive"));
}

}  // namespace tarcil::layer_reader_test
