#include "formats/packed_file.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/units.h"

namespace tarcil {

Result<std::string> readPackedFile(const std::string& path, size_t mostBytes, CutOff cutOff) {
  constexpr unsigned kChunk = 1 << 20;
  const auto failed = [&path](const std::string& reason, const char* remedy) {
    return invalid(path + ": cannot be read: " + reason + "; " + remedy);
  };
  errno = 0;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rbe"), &gzclose);
  if (!file) return failed(std::strerror(errno), "check the path and its permissions");
  std::string content;
  for (;;) {
    const size_t before = content.size();
    content.resize(before + kChunk);
    const int count = gzread(file.get(), content.data() + before, kChunk);
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (code == Z_ERRNO) return failed(std::strerror(errno), "check the path and its permissions");
    // A file that is cut off reads well up to its end and says so only then.
    if (count < 0 || (code == Z_BUF_ERROR && cutOff == CutOff::kRefuse))
      return failed(reason, "get the whole file again");
    content.resize(before + static_cast<size_t>(count));
    if (content.size() > mostBytes) {
      return invalid(path + ": is larger than " + formatSize(mostBytes) + " unpacked; cut it");
    }
    if (count == 0) return content;
  }
}

}  // namespace tarcil
