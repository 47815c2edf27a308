// A program on a terminal of its own, with what it writes there and keys to press.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/process.h"

namespace tarcil {

class Terminal final {
 public:
  // stdin, stdout and stderr of the program are the terminal, of 24 rows and 80 columns, which is also its
  // controlling one. Throws where the program cannot be started.
  Terminal(const std::vector<std::string>& argv, const Environment& environment);
  ~Terminal();  // kills it if it still runs
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Reads until `text` has appeared behind what was waited for before; false where the program ended first.
  bool waitFor(std::string_view text);
  void press(std::string_view keys);
  // Until it has stopped, as by Ctrl-Z.
  void waitForStop() const;
  void signal(int number) const;
  void resize(unsigned short rows, unsigned short columns) const;

  // Until it has ended and all is read: what it wrote is in `out`.
  ProcessResult finish();

 private:
  bool readSome();

  pid_t pid_ = -1;
  int fd_ = -1;  // the terminal's other side
  std::string written_;
  size_t seen_ = 0;  // bytes of it that waitFor() has passed
};

}  // namespace tarcil
