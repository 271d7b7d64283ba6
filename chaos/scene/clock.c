/*
 * Library to preload into a node. It changes the time of day by the number of nanoseconds (signed, 64 bits) in the file
 * that CHAOS_CLOCK names, as soon as the file changes. Monotonic clocks stay unchanged.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { second = 1000000000 };
/* Limit between durations and times of day: no machine has run for thirty years. */
enum { longest_run = 1000000000 };

static const volatile int64_t *offset;
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void open_clock(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_timedwait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  const char *name = getenv("CHAOS_CLOCK");
  int file = name == NULL ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) abort();
  close(file);
  offset = page;
}

static void shift(struct timespec *time, int64_t by) {
  int64_t all = time->tv_sec * (int64_t)second + time->tv_nsec + by;
  time->tv_sec = all / second;
  time->tv_nsec = all % second;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = real_clock_gettime ? real_clock_gettime(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
  int is_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_of_day && offset != NULL) shift(time, *offset);
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  int result = clock_gettime(CLOCK_REALTIME, &time);
  (void)zone;
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return result;
}

time_t time(time_t *seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}

/* Converts the end of a wait, because the system compares the end with the machine's time of day. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict end) {
  struct timespec real_end = *end;
  if (end->tv_sec > longest_run && offset != NULL) shift(&real_end, -*offset);
  return real_timedwait(condition, mutex, &real_end);
}
