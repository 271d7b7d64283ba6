/* Preloaded into the service by a test: once the file named by FAILING_SYNC exists, no fdatasync or fsync succeeds. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failing(void) {
  const char *file = getenv("FAILING_SYNC");
  return file != NULL && access(file, F_OK) == 0;
}

static int broken(void) {
  errno = EIO;
  return -1;
}

int fdatasync(int descriptor) { return failing() ? broken() : (int)syscall(SYS_fdatasync, descriptor); }

int fsync(int descriptor) { return failing() ? broken() : (int)syscall(SYS_fsync, descriptor); }
