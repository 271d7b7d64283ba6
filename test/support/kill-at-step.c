/*
 * Preloaded into a command by a test. Each call that changes a directory or waits for the disk is a step, except
 * mkdir of an existing directory, and fsync of a directory after fsync of another one. Before each step, the directory
 * CHANGED is copied to a folder in COPIES, named by the number of the step: a kill at this point leaves these files. If
 * KILL_AT is set, the process is killed before the step of this number instead.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int synced_directory = 0;

static void copy_changed(int step) {
  const char *changed = getenv("CHANGED");
  char target[4096];
  if (changed == NULL || access(changed, F_OK) != 0) return;
  snprintf(target, sizeof target, "%s/%d", getenv("COPIES"), step);
  char *arguments[] = {"cp", "-a", (char *)changed, target, NULL};
  char *environment[] = {"PATH=/usr/bin:/bin", NULL}; /* cp must not count its own steps. */
  pid_t pid;
  int status;
  if (posix_spawnp(&pid, "cp", NULL, NULL, arguments, environment) != 0) abort();
  if (waitpid(pid, &status, 0) != pid || status != 0) abort();
}

static void step(void) {
  static int steps = 0;
  synced_directory = 0;
  const char *last = getenv("KILL_AT");
  steps += 1;
  if (last != NULL && steps == atoi(last)) kill(getpid(), SIGKILL);
  if (last == NULL) copy_changed(steps);
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
