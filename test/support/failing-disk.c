/*
 * A failing disk, preloaded into the service by a test. Each variable names a file; while that file exists:
 * FAILING_SYNC: fdatasync and fsync fail. FAILING_META: writes of LMDB's meta pages, which it opens O_DSYNC, fail.
 * FAILING_DATA: writes of other pages of LMDB fail. SLOW_SYNC: fdatasync and fsync take more than a second.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int failing(const char *what) {
  const char *file = getenv(what);
  return file != NULL && access(file, F_OK) == 0;
}

static int broken(void) {
  errno = EIO;
  return -1;
}

static void wait_for_disk(void) {
  struct timespec time = {1, 300000000};
  if (failing("SLOW_SYNC")) nanosleep(&time, NULL);
}

int fdatasync(int descriptor) {
  wait_for_disk();
  return failing("FAILING_SYNC") ? broken() : (int)syscall(SYS_fdatasync, descriptor);
}

int fsync(int descriptor) {
  wait_for_disk();
  return failing("FAILING_SYNC") ? broken() : (int)syscall(SYS_fsync, descriptor);
}

static int is_data_file(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  return strstr(path, "/data.mdb") != NULL;
}

static int write_fails(int descriptor) {
  if ((fcntl(descriptor, F_GETFL) & O_DSYNC) != 0) return failing("FAILING_META");
  return failing("FAILING_DATA") && is_data_file(descriptor);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t at) {
  return write_fails(descriptor) ? broken() : syscall(SYS_pwrite64, descriptor, bytes, length, at);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t at) {
  return pwrite(descriptor, bytes, length, at);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  return write_fails(descriptor) ? broken() : syscall(SYS_writev, descriptor, parts, count);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t at) {
  return write_fails(descriptor) ? broken() : syscall(SYS_pwritev, descriptor, parts, count, at, 0);
}
