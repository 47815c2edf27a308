#include "shim/secrets.h"

#include <errno.h>
#include <sys/mount.h>

#include "shim/trees.h"

namespace tarcil {
namespace {

// As many and as large as a job may have (core/model/task_secret.h), and some for the file system itself.
constexpr const char* kSize = "size=4m";
constexpr size_t kNameBytes = 256;

long mountInMemory(const Plan& plan, bool mayBeSwapped) {
  Text<128> options;
  options << "mode=500,uid=" << uint64_t{plan.header->uid} << ",gid=" << uint64_t{plan.header->gid} << ","
          << kSize;
  if (!mayBeSwapped) options << ",noswap";
  return mountAt("tmpfs", kSecretsPoint, "tmpfs", kInert, options.get());
}

// Without a copy in this process.
long copyValue(int file, long at, uint32_t bytes) {
  for (uint32_t left = bytes; left > 0;) {
    const long copied = sys::call(SYS_sendfile, file, kSecretsFd, &at, left);
    if (copied <= 0) return copied < 0 ? copied : -EIO;
    left -= static_cast<uint32_t>(copied);
  }
  return 0;
}

// The secret at this place; `at` moves on to the next.
long writeSecret(const Plan& plan, long folder, long& at) {
  SecretHeader header;
  char name[kNameBytes];
  long result = sys::call(SYS_pread64, kSecretsFd, &header, sizeof header, at);
  if (result != sizeof header || header.nameBytes == 0 || header.nameBytes > kNameBytes) return -EIO;
  at += static_cast<long>(sizeof header);
  result = sys::call(SYS_pread64, kSecretsFd, name, header.nameBytes, at);
  if (result != static_cast<long>(header.nameBytes) || name[header.nameBytes - 1] != '\0') return -EIO;
  at += header.nameBytes;
  const long file =
      sys::openAt(static_cast<int>(folder), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
  if (file < 0) return file;
  result = copyValue(static_cast<int>(file), at, header.valueBytes);
  if (result >= 0) result = sys::call(SYS_fchown, file, plan.header->uid, plan.header->gid);
  sys::close(static_cast<int>(file));
  at += header.valueBytes;
  return result;
}

}  // namespace

bool giveSecrets(const Plan& plan, Report& report) {
  if (plan.header->secrets == 0) return true;
  long result = makeFolders(kSecretsPoint, true);
  if (result >= 0) result = mountInMemory(plan, false);
  // Older kernels, and user namespaces, cannot keep it from being swapped.
  if (result == -EINVAL) result = mountInMemory(plan, true);
  long folder = -1;
  if (result >= 0) result = folder = sys::open(kSecretsPoint, O_PATH | O_DIRECTORY | O_CLOEXEC);
  long at = 0;
  for (uint32_t i = 0; i < plan.header->secrets && result >= 0; ++i) result = writeSecret(plan, folder, at);
  if (result >= 0) result = restrict(folder, "", AT_EMPTY_PATH, MOUNT_ATTR_RDONLY);
  if (folder >= 0) sys::close(static_cast<int>(folder));
  // What else has the descriptor has nothing in it.
  const long emptied = sys::call(SYS_ftruncate, kSecretsFd, 0);
  if (result >= 0) result = emptied;
  sys::close(kSecretsFd);
  if (result < 0) report.fail("give the task its secrets in", kSecretsPoint, result);
  return result >= 0;
}

}  // namespace tarcil
