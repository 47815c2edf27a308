// What an error number means, for people.
#pragma once

#include <errno.h>

#include <cstdint>

namespace tarcil {

// In the words of the C library for what may happen to a shim; null for anything else.
constexpr const char* errorText(long error) {
  switch (error) {
    case EPERM:
      return "Operation not permitted";
    case ENOENT:
      return "No such file or directory";
    case ENXIO:
      return "No such device or address";
    case EIO:
      return "Input/output error";
    case E2BIG:
      return "Argument list too long";
    case ENOEXEC:
      return "Exec format error";
    case EAGAIN:
      return "Resource temporarily unavailable";
    case ENOMEM:
      return "Cannot allocate memory";
    case EACCES:
      return "Permission denied";
    case EBUSY:
      return "Device or resource busy";
    case ENOTDIR:
      return "Not a directory";
    case EISDIR:
      return "Is a directory";
    case EINVAL:
      return "Invalid argument";
    case EMFILE:
      return "Too many open files";
    case ENFILE:
      return "Too many open files in system";
    case ETXTBSY:
      return "Text file busy";
    case EFBIG:
      return "File too large";
    case ENOSPC:
      return "No space left on device";
    case EROFS:
      return "Read-only file system";
    case ERANGE:
      return "Numerical result out of range";
    case ENAMETOOLONG:
      return "File name too long";
    case ELOOP:
      return "Too many levels of symbolic links";
    case ESTALE:
      return "Stale file handle";
    case EDQUOT:
      return "Disk quota exceeded";
    default:
      return nullptr;
  }
}

// The result of a system call that failed, to be written into a Text.
struct Failure {
  long result;
};

template <typename Text>
Text& operator<<(Text& text, Failure failure) {
  const char* words = errorText(-failure.result);
  if (words != nullptr) return text << words;
  return text << "error " << static_cast<uint64_t>(-failure.result);
}

}  // namespace tarcil
