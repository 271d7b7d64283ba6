/*
 * Bun calls pwrite and pwritev without the C library, where a preloaded library cannot replace them. A seccomp filter turns
 * these calls into SIGSYS, whose handler calls `on_write` in their place. Include it once, define `on_write`, and use
 * `real_pwrite` for the call itself.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#define UNTRAPPED 0x464d

static ssize_t on_write(int descriptor, const struct iovec *parts, int count, off_t at);

/* As the system call: an error is a negative number. */
static long raw_call(long number, long a, long b, long c, long d, long e) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = UNTRAPPED;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static ssize_t real_pwrite(int descriptor, const struct iovec *parts, int count, off_t at) {
  if (count == 1) return raw_call(SYS_pwrite64, descriptor, (long)parts->iov_base, parts->iov_len, at, 0);
  return raw_call(SYS_pwritev, descriptor, (long)parts, count, at, 0);
}

static void trapped(int signal, siginfo_t *info, void *context) {
  (void)signal;
  greg_t *at = ((ucontext_t *)context)->uc_mcontext.gregs;
  struct iovec whole = {(void *)at[REG_RSI], at[REG_RDX]};
  int is_single = info->si_syscall == SYS_pwrite64;
  const struct iovec *parts = is_single ? &whole : (const struct iovec *)at[REG_RSI];
  at[REG_RAX] = on_write(at[REG_RDI], parts, is_single ? 1 : (int)at[REG_RDX], at[REG_R10]);
}

__attribute__((constructor)) static void trap_writes(void) {
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSYS, &action, NULL);
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UNTRAPPED, 3, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      /* Bun ignores SIGSYS: that call succeeds, and changes nothing. */
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGSYS, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
  };
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
