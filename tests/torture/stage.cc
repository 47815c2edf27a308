#include "tests/torture/stage.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

namespace tarcil::torture {
namespace {

kj::AutoCloseFd create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), path);
  return kj::AutoCloseFd(fd);
}

}  // namespace

Recorder::Recorder(const std::string& path) : out_(create(path)) {}

}  // namespace tarcil::torture
