/*
 * A failing disk, preloaded into the service by a test. Each variable names a file: a fault lasts while it exists.
 * FAILING_SYNC: fdatasync and fsync fail. FAILING_META: writes of LMDB's meta pages, which it opens O_DSYNC, fail.
 * FAILING_DATA: writes of other pages of LMDB fail. SLOW_SYNC: fdatasync and fsync take more than a second.
 * FAILING_FRAME, SHORT_FRAME, FULL_FRAME: writes of frames to the journal fail, end half-way, or find no space.
 * FAILING_FLUSH: the next fdatasync of a journal segment fails, and no later one. FAILING_FLUSHES: all of these fail.
 * FAILING_LANE: all of these fail, and each fsync of the directory of the segments.
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
#include "trap-writes.h"

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

static int is_file(int descriptor, const char *end) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  size_t size = strlen(end);
  return length >= (ssize_t)size && strcmp(path + length - size, end) == 0;
}

int fdatasync(int descriptor) {
  static int is_over = 0;
  wait_for_disk();
  int all = failing("FAILING_FLUSHES") || failing("FAILING_LANE");
  if (is_file(descriptor, ".segment") && (all || (failing("FAILING_FLUSH") && !is_over))) {
    is_over = 1;
    return broken();
  }
  return failing("FAILING_SYNC") ? broken() : (int)syscall(SYS_fdatasync, descriptor);
}

int fsync(int descriptor) {
  wait_for_disk();
  if (failing("FAILING_LANE") && is_file(descriptor, "/journal/1")) return broken();
  return failing("FAILING_SYNC") ? broken() : (int)syscall(SYS_fsync, descriptor);
}

static int write_fails(int descriptor) {
  if ((fcntl(descriptor, F_GETFL) & O_DSYNC) != 0) return failing("FAILING_META");
  return failing("FAILING_DATA") && is_file(descriptor, "/data.mdb");
}

/* Fails the write of a frame, which fills pages. The short write that invalidates a frame works as on a sound disk. */
static ssize_t write_frame(int descriptor, const struct iovec *part, off_t at) {
  if (failing("FAILING_FRAME")) return -EIO;
  if (failing("FULL_FRAME")) return -ENOSPC;
  struct iovec half = {part->iov_base, failing("SHORT_FRAME") ? part->iov_len / 2 : part->iov_len};
  return real_pwrite(descriptor, &half, 1, at);
}

/* Like the system call, returns a negative number for an error. */
static ssize_t on_write(int descriptor, const struct iovec *parts, int count, off_t at) {
  if (write_fails(descriptor)) return -EIO;
  if (count == 1 && parts->iov_len > 16 && is_file(descriptor, ".segment")) return write_frame(descriptor, parts, at);
  return real_pwrite(descriptor, parts, count, at);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  return write_fails(descriptor) ? broken() : syscall(SYS_writev, descriptor, parts, count);
}
