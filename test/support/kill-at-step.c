/*
 * Preloaded into a command by a test: kills the process before the step that KILL_AT numbers. Each call that changes a directory
 * or waits for the disk is a step. Calls that change nothing for the next process are no steps: mkdir of an existing directory,
 * and fsync of a directory after fsync of another directory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int synced_directory = 0;

static void step(void) {
  static int steps = 0;
  synced_directory = 0;
  const char *last = getenv("KILL_AT");
  steps += 1;
  if (last != NULL && steps == atoi(last)) kill(getpid(), SIGKILL);
}

int mkdir(const char *path, mode_t mode) {
  if (access(path, F_OK) != 0) step();
  return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rmdir(const char *path) {
  step();
  return syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int rename(const char *from, const char *to) {
  step();
  return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fsync(int descriptor) {
  struct stat file;
  int is_directory = fstat(descriptor, &file) == 0 && S_ISDIR(file.st_mode);
  if (!is_directory || !synced_directory) step();
  synced_directory = is_directory;
  return syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  step();
  return syscall(SYS_fdatasync, descriptor);
}
