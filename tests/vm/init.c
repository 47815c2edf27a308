// Process 1 of the virtual machine of scripts/vm-cgroup2.sh: loads the modules that lie beside it, in the order of their
// names, makes the host's file system the root, read-only below a layer of memory, mounts cgroup version 2 and nothing
// else where cgroups are, runs the program that the kernel's command line names (run=PATH), and powers off.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void load(const char* folder) {
  struct dirent** names;
  const int count = scandir(folder, &names, NULL, alphasort);
  for (int i = 0; i < count; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
    const int fd = names[i]->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && syscall(SYS_finit_module, fd, "", 0) != 0) perror(path);
    if (fd >= 0) close(fd);
  }
}

static void mountAt(const char* source, const char* point, const char* type, unsigned long flags,
                    const char* options) {
  mkdir(point, 0755);
  if (mount(source, point, type, flags, options) != 0) perror(point);
}

static void enterHostFiles(void) {
  mountAt("host", "/host", "9p", MS_RDONLY, "trans=virtio,version=9p2000.L,msize=262144,cache=loose");
  mountAt("layer", "/layer", "tmpfs", 0, NULL);
  mkdir("/layer/upper", 0755);
  mkdir("/layer/work", 0755);
  mountAt("overlay", "/root", "overlay", 0, "lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work");
  mountAt("proc", "/root/proc", "proc", 0, NULL);
  mountAt("sys", "/root/sys", "sysfs", 0, NULL);
  mountAt("dev", "/root/dev", "devtmpfs", 0, NULL);
  if (symlink("/proc/self/fd", "/root/dev/fd") != 0) perror("/dev/fd");
  mountAt("shm", "/root/dev/shm", "tmpfs", 0, NULL);
  mountAt("run", "/root/run", "tmpfs", 0, "mode=755");
  mountAt("tmp", "/root/tmp", "tmpfs", 0, "mode=1777");
  mountAt("tmp", "/root/var/tmp", "tmpfs", 0, "mode=1777");
  mountAt("cgroup2", "/root/sys/fs/cgroup", "cgroup2", 0, NULL);
  if (chdir("/root") != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0) perror("root");
}

// The value of run= on the kernel's command line.
static const char* programToRun(void) {
  static char line[4096];
  const int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t size = read(fd, line, sizeof line - 1);
  line[size > 0 ? size : 0] = '\0';
  char* at = strstr(line, "run=");
  if (at == NULL) return "/bin/sh";
  at[strcspn(at, " \n")] = '\0';
  return at + strlen("run=");
}

int main(void) {
  load("/modules");
  enterHostFiles();
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    execl(programToRun(), programToRun(), (char*)NULL);
    perror("run");
    _exit(127);
  }
  while (wait(NULL) != child) {
  }
  sync();
  reboot(RB_POWER_OFF);
  return 1;
}
