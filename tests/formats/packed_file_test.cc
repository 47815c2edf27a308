#include "formats/packed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/scratch_folder.h"

namespace tarcil::packed_file_test {

using testing::HasSubstr;

std::string packed(const std::string& text) {
  // 16 more than the window asks for the format of gzip.
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string numbers(int count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += std::to_string(i * 7919 % 10'007) + "\n";
  return text;
}

TEST(ReadPackedFile, ReadsPackedAndPlainFiles) {
  const ScratchFolder folder;
  const std::string text = numbers(300'000);  // more than one chunk
  folder.write("plain", text);
  folder.write("packed.gz", packed(text));
  EXPECT_EQ(*readPackedFile(folder.at("plain"), 1 << 24), text);
  EXPECT_EQ(*readPackedFile(folder.at("packed.gz"), 1 << 24), text);
}

TEST(ReadPackedFile, RefusesWhatIsCutOffOrDamaged) {
  const ScratchFolder folder;
  const std::string whole = packed(numbers(10'000));
  folder.write("cut.gz", whole.substr(0, whole.size() / 2));
  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 0x55;
  folder.write("damaged.gz", damaged);
  for (const char* name : {"cut.gz", "damaged.gz"}) {
    const auto read = readPackedFile(folder.at(name), 1 << 24);
    ASSERT_FALSE(read.ok()) << name;
    EXPECT_THAT(read.error().message, HasSubstr("; get the whole file again"));
  }
}

TEST(ReadPackedFile, RefusesWhatUnpacksToTooMuch) {
  const ScratchFolder folder;
  folder.write("bomb.gz", packed(std::string(5'000'000, 'x')));
  const auto read = readPackedFile(folder.at("bomb.gz"), 1 << 20);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("is larger than 1MiB unpacked; cut it"));
}

TEST(ReadPackedFile, NamesAPathThatIsNotThere) {
  const auto read = readPackedFile("/nonexistent/t.swf", 1 << 20);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("/nonexistent/t.swf: cannot be read: No such file"));
}

}  // namespace tarcil::packed_file_test
