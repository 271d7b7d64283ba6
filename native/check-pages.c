/*
 * What keeps a damaged file from ending the process. LMDB follows every offset, length and page number that a page of its
 * file holds, so one flipped bit has it read, or write, anywhere. These are called where LMDB takes a page from the file
 * (see scripts/build/lmdb.ts): its header is looked at each time, its nodes once, and then its bit in the environment's map says
 * that they are whole. src/storage/lmdb/check-pages.ts has the same rules, for files that are not open.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 16, NODE = 8, FIRST_PAGE = 2 };
enum { BRANCH = 1, LEAF = 2, OVERFLOW = 4 };
enum { BIG = 1, TREE = 2 };

/* Bytes of a map: a bit for each page of a terabyte. It is allocated zeroed, so only what is in use takes memory. */
const size_t flagmeter_map_bytes = (size_t)1 << 25;

static __thread char damage[1024];

static unsigned u16(const unsigned char *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint64_t u64(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static int page_is_in(uint64_t number, size_t pages) { return number >= FIRST_PAGE && number < pages; }

static int node_is_whole(const unsigned char *page, unsigned at, unsigned kind, size_t size, size_t pages) {
  const unsigned char *node = page + at;
  size_t data = at + NODE + (size_t)u16(node + 6);
  if (data > size) return 0;
  if (kind == BRANCH) return page_is_in(u64(node) & 0xffffffffffff, pages);
  unsigned flags = u16(node + 4);
  size_t bytes = u16(node) | (size_t)u16(node + 2) << 16;
  if (flags == BIG) return data + 8 <= size && page_is_in(u64(page + data), pages);
  return (flags == 0 || flags == TREE) && data + bytes <= size;
}

static int header_is_whole(const unsigned char *page, uint64_t number, size_t size, size_t pages) {
  unsigned kind = u16(page + 10);
  if (u64(page) != number) return 0;
  if (kind == BRANCH || kind == LEAF) {
    unsigned lower = u16(page + 12), upper = u16(page + 14);
    return lower >= HEADER + (kind == BRANCH ? 4 : 2) && lower <= upper && upper <= size && lower % 2 == 0;
  }
  uint32_t count;
  memcpy(&count, page + 12, sizeof count);
  return kind == OVERFLOW && count > 0 && count <= pages - number;
}

static int nodes_are_whole(const unsigned char *page, size_t size, size_t pages) {
  unsigned kind = u16(page + 10), lower = u16(page + 12), upper = u16(page + 14);
  if (kind == OVERFLOW) return 1;
  for (unsigned index = HEADER; index < lower; index += 2) {
    unsigned at = u16(page + index);
    if (at < upper || at + NODE > size || !node_is_whole(page, at, kind, size, pages)) return 0;
  }
  return 1;
}

/* Notes that a page of a directory's file is damaged, for the error that this thread throws next. */
static void note(const char *directory, size_t number) {
  snprintf(damage, sizeof damage,
           "Page %zu of %s/data.mdb is damaged: stop the service and run `flagmeter verify`; restore the data directory "
           "from a backup",
           number, directory);
}

/* Whether a page may be used; notes it otherwise. */
int flagmeter_page_is_whole(unsigned char *map, const char *directory, const void *page, size_t number, size_t size,
                            size_t pages) {
  int mapped = map != NULL && number / 8 < flagmeter_map_bytes;
  unsigned char bit = 1 << number % 8;
  int seen = mapped && (__atomic_load_n(map + number / 8, __ATOMIC_RELAXED) & bit) != 0;
  if (!header_is_whole(page, number, size, pages) || !(seen || nodes_are_whole(page, size, pages))) {
    note(directory, number);
    return 0;
  }
  if (mapped && !seen) __atomic_fetch_or(map + number / 8, bit, __ATOMIC_RELAXED);
  return 1;
}

/* Whether the pages of a long value are as many as it takes; notes it otherwise. */
int flagmeter_value_is_whole(const char *directory, const void *page, size_t bytes, size_t size) {
  uint32_t count;
  memcpy(&count, (const unsigned char *)page + 12, sizeof count);
  /* A page that this transaction has written is marked as that too. */
  if ((u16((const unsigned char *)page + 10) & OVERFLOW) != 0 && HEADER + bytes <= count * size) return 1;
  note(directory, u64(page));
  return 0;
}

/* Whether a record of the free list holds what it says: page numbers, each once, the greatest first. */
int flagmeter_list_is_whole(const char *directory, const void *page, size_t key_bytes, const void *list, size_t bytes,
                            size_t pages) {
  const unsigned char *at = list;
  uint64_t count = bytes < 8 ? 0 : u64(at);
  int whole = key_bytes == 8 && bytes >= 8 && count <= bytes / 8 - 1;
  uint64_t before = pages;
  for (uint64_t index = 1; whole && index <= count; index += 1) {
    uint64_t number = u64(at + index * 8);
    whole = number >= FIRST_PAGE && number < before;
    before = number;
  }
  if (!whole) note(directory, u64(page));
  return whole;
}

/* Notes that something refers to a page that is not there. */
void flagmeter_note_damage(const char *directory, size_t number) { note(directory, number); }

/* What an error that means damage is to say. */
const char *flagmeter_damage(const char *otherwise) { return damage[0] == 0 ? otherwise : damage; }

/* Ends the process with a line of the log: LMDB has found what cannot be, and would abort. */
void flagmeter_end(const char *directory, const char *cause) {
  char line[2048], now[32] = "";
  time_t seconds = time(NULL);
  struct tm utc;
  if (gmtime_r(&seconds, &utc) != NULL) strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S.000Z", &utc);
  int length = snprintf(line, sizeof line,
                        "{\"time\":\"%s\",\"level\":\"error\",\"msg\":\"the store is damaged: stopping\",\"file\":"
                        "\"%.900s/data.mdb\",\"must\":\"run flagmeter verify; restore the data directory from a backup\","
                        "\"cause\":\"",
                        now, directory);
  for (const char *at = cause; *at != 0 && length < (int)sizeof line - 4; at += 1)
    line[length++] = *at == '"' || *at == '\\' || *at < ' ' ? '.' : *at;
  length += snprintf(line + length, sizeof line - length, "\"}\n");
  ssize_t written = write(STDERR_FILENO, line, length);
  (void)written;
  _exit(1);
}
