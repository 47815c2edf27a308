#include "image/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "core/base/text.h"

namespace tarcil::image {
namespace {

constexpr int kWatchMillis = 200;

Error systemError(const std::string& what) {
  return {ErrorCode::kInternal, what + ": " + std::generic_category().message(errno)};
}

// A pipe of which the child has the end for writing.
class Outlet {
 public:
  Outlet() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Outlet() {
    closeEnd(0);
    closeEnd(1);
  }
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;

  bool good() const { return ends_[0] >= 0; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void closeWriter() { closeEnd(1); }
  // False once it has ended, and then it is no more.
  bool readInto(std::string& text) {
    std::array<char, 16 << 10> piece;
    const ssize_t count = ::read(reader(), piece.data(), piece.size());
    if (count > 0) {
      text.append(piece.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      closeEnd(0);
    }
    return good();
  }

 private:
  void closeEnd(size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

  std::array<int, 2> ends_{-1, -1};
};

pid_t start(const std::vector<std::string>& words, const Outlet& out, const Outlet& err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(out.writer(), STDOUT_FILENO);
  ::dup2(err.writer(), STDERR_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

int waitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The text of a line of a log, `time="..." level=fatal msg="TEXT"`; what is no such line is as it is.
std::string messageIn(const std::string& line) {
  constexpr std::string_view kMessage = " msg=\"";
  const size_t from = line.rfind(kMessage);
  if (from == std::string::npos || !line.ends_with('"')) return line;
  std::string text;
  for (size_t i = from + kMessage.size(); i + 1 < line.size(); ++i) {
    if (line[i] == '\\' && line[i + 1] == '"') continue;
    text += line[i];
  }
  return text;
}

// The newest that programs say is why they failed.
std::string endOf(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > kMaxErrorText) text.erase(0, text.size() - kMaxErrorText);
  std::ranges::replace_if(
      text, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; }, ' ');
  return text.empty() ? "it says nothing" : messageIn(text);
}

// Until both have ended.
Status readAll(Outlet& out, std::string& output, size_t maxOutput, Outlet& err, std::string& errors,
               const std::function<Status()>& watch) {
  while (out.good() || err.good()) {
    std::array<pollfd, 2> ends{pollfd{out.reader(), POLLIN, 0}, pollfd{err.reader(), POLLIN, 0}};
    ::poll(ends.data(), ends.size(), kWatchMillis);
    if (ends[0].revents != 0) out.readInto(output);
    if (ends[1].revents != 0) err.readInto(errors);
    if (errors.size() > 2 * kMaxErrorText) errors.erase(0, errors.size() - kMaxErrorText);
    if (output.size() > maxOutput)
      return invalid("is more than " + std::to_string(maxOutput) + " bytes where at most that is read");
    if (Status good = watch(); !good.ok()) return good;
  }
  return {};
}

}  // namespace

Result<std::string> runTool(const std::vector<std::string>& words, size_t maxOutput,
                            const std::function<Status()>& watch) {
  Outlet out, err;
  if (!out.good() || !err.good()) return systemError("cannot make a pipe");
  const pid_t child = start(words, out, err);
  if (child < 0) return systemError("cannot start " + words.front());
  out.closeWriter();
  err.closeWriter();
  std::string output, errors;
  const Status read = readAll(out, output, maxOutput, err, errors, watch);
  if (!read.ok()) ::kill(child, SIGKILL);
  const int status = waitFor(child);
  if (!read.ok()) return read.error();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::string program = words.front().substr(words.front().rfind('/') + 1);
  return invalid(program + ": " + endOf(errors));
}

}  // namespace tarcil::image
