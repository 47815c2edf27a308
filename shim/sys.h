// System calls without a C library: they return what the kernel returns, a negative error number for failure.
//
// On x86_64 the shim is linked without a C library, whose start-up asks the processor what it is by CPUID; in
// a virtual machine each such question goes to the hypervisor: 0.3 ms for every task, a fourth of the way
// from the shim's exec to the command's. Elsewhere these calls go through the library.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tarcil::sys {

long callKernel(long number, long a, long b, long c, long d, long e, long f);

template <typename T>
long argumentWord(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

// Any system call, with integers and pointers as its arguments.
template <typename... Arguments>
long call(long number, Arguments... arguments) {
  const long all[6] = {argumentWord(arguments)...};
  return callKernel(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

// A process that shares this one's memory and runs `function(argument)`, which must not return, on the stack
// that ends at `stackEnd`. Comes back when that process has executed a program or ended, with its pid (as
// vfork does, but without its traps).
long spawnSharing(void (*function)(void*), void* argument, char* stackEnd);

inline long openAt(int folder, const char* path, int flags, int mode = 0) {
  return call(SYS_openat, folder, path, flags, mode);
}
inline long open(const char* path, int flags) {
  return openAt(AT_FDCWD, path, flags);
}
inline long close(int fd) {
  return call(SYS_close, fd);
}
inline long read(int fd, void* data, size_t size) {
  return call(SYS_read, fd, data, size);
}
inline long write(int fd, const void* data, size_t size) {
  return call(SYS_write, fd, data, size);
}
inline long pwrite(int fd, const void* data, size_t size, long at) {
  return call(SYS_pwrite64, fd, data, size, at);
}

// Renames within a folder.
inline long rename(int folder, const char* from, const char* to) {
  return call(SYS_renameat2, folder, from, folder, to, 0);
}

// Fresh memory, all zero, that lives as long as the process; null if there is none. `sharing`: MAP_PRIVATE,
// or MAP_SHARED with processes made later.
inline void* map(size_t size, int sharing) {
  const long memory = call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  return memory < 0 ? nullptr : std::bit_cast<void*>(memory);
}

// A set of signals as the kernel takes it: bit n - 1 for signal n.
using SignalMask = uint64_t;
constexpr SignalMask maskOf(int signal) {
  return SignalMask{1} << (signal - 1);
}
inline void setSignalMask(SignalMask mask) {
  call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, static_cast<void*>(nullptr), sizeof mask);
}

[[noreturn]] inline void exit(int status) {
  for (;;) call(SYS_exit_group, status);
}

}  // namespace tarcil::sys
