#include "shim/sys.h"

#if !defined(TARCIL_WITHOUT_LIBC)

#include <errno.h>
#include <unistd.h>

namespace tarcil::sys {

long callKernel(long number, long a, long b, long c, long d, long e, long f) {
  const long result = ::syscall(number, a, b, c, d, e, f);
  return result < 0 ? -errno : result;
}

long spawnSharing(void (*function)(void*), void* argument, char*) {
  const pid_t pid = ::vfork();
  if (pid == 0) function(argument);
  return pid < 0 ? -errno : pid;
}

}  // namespace tarcil::sys

#else

namespace tarcil::sys {

long callKernel(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

long spawnSharing(void (*function)(void*), void* argument, char* stackEnd) {
  constexpr long kFlags = 0x100 | 0x4000 | SIGCHLD;  // CLONE_VM, CLONE_VFORK
  long result;
  register void (*entry)(void*) __asm__("r12") = function;
  register void* entryArgument __asm__("r13") = argument;
  register long childTid __asm__("r10") = 0;
  register long tls __asm__("r8") = 0;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(kFlags), "S"(stackEnd), "d"(0L), "r"(childTid), "r"(tls), "r"(entry),
        "r"(entryArgument)
      : "rcx", "r11", "memory");
  return result;
}

}  // namespace tarcil::sys

int main();

// What the compiler calls by itself. Not as loops, which it would turn into calls of the same.
extern "C" {

void* memcpy(void* to, const void* from, size_t size) {
  void* at = to;
  __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
  return to;
}

void* memset(void* to, int value, size_t size) {
  void* at = to;
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
  return to;
}

// The kernel starts a program with the stack aligned and nothing in the registers; its arguments do not
// matter here.
[[noreturn]] void tarcilStart();
__asm__(
    ".globl _start\n"
    "_start:\n\t"
    "xor %ebp, %ebp\n\t"
    "and $-16, %rsp\n\t"
    "call tarcilStart\n");

void tarcilStart() {
  tarcil::sys::exit(main());
}
}

#endif
