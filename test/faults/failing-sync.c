/*
 * Preloaded into the service by a test: once the file named by FAILING_SYNC exists, no fdatasync or fsync succeeds; once
 * the file named by FAILING_META exists, no write of what LMDB opens O_DSYNC, which are the pages that say what counts.
 * Once the file named by SLOW_SYNC exists, each fdatasync and fsync takes more than a second.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
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

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t at) {
  if (failing("FAILING_META") && (fcntl(descriptor, F_GETFL) & O_DSYNC) != 0) return broken();
  return syscall(SYS_pwrite64, descriptor, bytes, length, at);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t at) {
  return pwrite(descriptor, bytes, length, at);
}
