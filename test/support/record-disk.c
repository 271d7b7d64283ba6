/*
 * Preloaded into the service by a test. Appends each event on files below RECORD_IN to the file RECORD_TO, and kills
 * the process at one event. This event has the kind KILL_ON, and a path that contains KILL_PATH, or ends with the part
 * before `$`. KILL_AT is its number among such events since the file KILL_ARMED was created.
 *
 * Kinds: w: a write begins; d: a write through an O_DSYNC descriptor has ended; s: a sync begins; e: a sync has ended;
 * r: a rename begins; u: an unlink begins. An event has a header (see `struct head`), paths and bytes. Bytes that are
 * all zero are left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "trap-writes.h"

struct head {
  uint32_t kind, thread, path, to, at_low, at_high, length, stored;
};

static int log_descriptor = -1;
static const char *within;
static const char *kill_on, *kill_path, *kill_armed;
static int kill_at, killed_so_far;

__attribute__((constructor)) static void begin(void) {
  within = getenv("RECORD_IN");
  const char *to = getenv("RECORD_TO");
  if (to != NULL) log_descriptor = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  kill_on = getenv("KILL_ON");
  kill_path = getenv("KILL_PATH");
  kill_armed = getenv("KILL_ARMED");
  kill_at = kill_on == NULL ? 0 : atoi(getenv("KILL_AT"));
}

static int is_recorded(const char *path) {
  return within != NULL && strncmp(path, within, strlen(within)) == 0 && strstr(path, "lock.mdb") == NULL;
}

static void path_of(int descriptor, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, size - 1);
  path[length < 0 ? 0 : length] = 0;
}

static int has_part(const char *path) {
  size_t part = strlen(kill_path), whole = strlen(path);
  if (kill_path[part - 1] != '$') return strstr(path, kill_path) != NULL;
  return whole >= part - 1 && strncmp(path + whole - (part - 1), kill_path, part - 1) == 0;
}

static void maybe_kill(char kind, const char *path, const char *to) {
  if (kill_on == NULL || *kill_on != kind) return;
  if ((!has_part(path) && !has_part(to)) || access(kill_armed, F_OK) != 0) return;
  if (__atomic_add_fetch(&killed_so_far, 1, __ATOMIC_SEQ_CST) == kill_at) kill(getpid(), SIGKILL);
}

static int is_zero(const struct iovec *parts, int count) {
  for (int index = 0; index < count; index += 1) {
    const char *bytes = parts[index].iov_base;
    size_t length = parts[index].iov_len;
    if (length > 0 && (bytes[0] != 0 || memcmp(bytes, bytes + 1, length - 1) != 0)) return 0;
  }
  return 1;
}

static void event(char kind, const char *path, const char *to, off_t at, const struct iovec *parts, int count) {
  maybe_kill(kind, path, to);
  if (log_descriptor < 0) return;
  size_t length = 0;
  for (int index = 0; index < count; index += 1) length += parts[index].iov_len;
  int stored = kind == 'w' && !is_zero(parts, count) ? count : 0;
  struct head head = {kind, (uint32_t)gettid(), strlen(path), strlen(to), (uint32_t)at, at >> 32, length, stored > 0};
  struct iovec all[1024 + 3] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)to, head.to}};
  for (int index = 0; index < stored; index += 1) all[3 + index] = parts[index];
  /* One call, so that events of several threads do not mix. */
  raw_call(SYS_writev, log_descriptor, (long)all, 3 + stored, 0, 0);
}

static ssize_t on_write(int descriptor, const struct iovec *parts, int count, off_t at) {
  char path[4096];
  path_of(descriptor, path, sizeof path);
  if (!is_recorded(path)) return real_pwrite(descriptor, parts, count, at);
  event('w', path, "", at, parts, count);
  ssize_t result = real_pwrite(descriptor, parts, count, at);
  if ((fcntl(descriptor, F_GETFL) & O_DSYNC) != 0) event('d', path, "", at, parts, count);
  return result;
}

/* LMDB writes adjacent pages with `writev`, after a seek. */
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  char path[4096];
  path_of(descriptor, path, sizeof path);
  if (is_recorded(path)) event('w', path, "", lseek(descriptor, 0, SEEK_CUR), parts, count);
  return syscall(SYS_writev, descriptor, parts, count);
}

static int synced(int descriptor, long number) {
  char path[4096];
  path_of(descriptor, path, sizeof path);
  int is_noted = is_recorded(path);
  if (is_noted) event('s', path, "", 0, NULL, 0);
  int result = syscall(number, descriptor);
  if (is_noted && result == 0) event('e', path, "", 0, NULL, 0);
  return result;
}

int fdatasync(int descriptor) {
  return synced(descriptor, SYS_fdatasync);
}

int fsync(int descriptor) {
  return synced(descriptor, SYS_fsync);
}

int rename(const char *from, const char *to) {
  if (is_recorded(from)) event('r', from, to, 0, NULL, 0);
  return syscall(SYS_rename, from, to);
}

int unlink(const char *path) {
  if (is_recorded(path)) event('u', path, "", 0, NULL, 0);
  return syscall(SYS_unlink, path);
}
