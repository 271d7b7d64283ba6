/*
 * What the compiler's static runtime asks of glibc 2.35, done with what older ones have: so the executable starts on
 * machines with glibc 2.34 (Ubuntu 22.04, RHEL 9), whatever it was built on.
 *
 * The unwinder of libgcc looks up the unwind tables of a program counter with _dl_find_object. Before glibc 2.35 it walked
 * the loaded objects with dl_iterate_phdr, as this does. Whoever links this file gets this one: it is hidden from others.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)

struct search {
  uintptr_t address;
  struct dl_find_object *found;
};

static int look(struct dl_phdr_info *object, size_t size, void *data) {
  struct search *search = data;
  const ElfW(Phdr) *tables = NULL;
  uintptr_t start = 0, end = 0;
  (void)size;
  for (int at = 0; at < object->dlpi_phnum; at += 1) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[at];
    uintptr_t from = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) tables = segment;
    if (segment->p_type != PT_LOAD || search->address < from || search->address >= from + segment->p_memsz) continue;
    start = from;
    end = from + segment->p_memsz;
  }
  if (end == 0 || tables == NULL) return 0;
  *search->found = (struct dl_find_object){
      .dlfo_map_start = (void *)start,
      .dlfo_map_end = (void *)end,
      .dlfo_eh_frame = (void *)(object->dlpi_addr + tables->p_vaddr),
  };
  return 1;
}

__attribute__((visibility("hidden"))) int _dl_find_object(void *address, struct dl_find_object *found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

#endif
