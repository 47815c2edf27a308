// Where files that are fetched go: below one folder, whatever their paths say.
#pragma once

#include <kj/io.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tarcil {

// Follows no symbolic link below the folder, so nothing is written outside of it. What fails is thrown as a
// Failure that names the file.
class FetchFolder {
 public:
  // Makes it, and folders around it. `overwrites`: files that are there are replaced, which else is refused.
  FetchFolder(std::string path, bool overwrites);

  // Refuses what keep() would, before anything is fetched. Requires: staysInside(path).
  void requireFree(const std::string& path) const;

  // A file on its way: under another name until keep().
  class File {
   public:
    File(File&&) = default;
    ~File() noexcept;  // removes what was not kept
    void write(std::string_view text);
    // It appears whole.
    void keep();

   private:
    friend class FetchFolder;
    File() = default;

    kj::AutoCloseFd folder_, file_;
    std::string path_, name_, temporary_;
    bool overwrites_ = false;
  };

  // `isProgram`: with mode 0755, else 0644, less what the umask takes. Requires: staysInside(path).
  File begin(const std::string& path, bool isProgram);

 private:
  const std::string path_;
  const bool overwrites_;
  kj::AutoCloseFd top_;
  uint64_t made_ = 0;
};

}  // namespace tarcil
