#include "serve/seccomp.h"

#include <fmt/format.h>
#include <seccomp.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace assay::serve {

Result<void> lock_down_door() {
#ifdef ASSAY_SANITIZED
  return {};
#else
  static constexpr int kAllowed[] = {
      // sockets that are already open, and accepted ones
      SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(write), SCMP_SYS(writev),
      SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(shutdown),
      SCMP_SYS(close), SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt),
      SCMP_SYS(setsockopt), SCMP_SYS(ioctl), SCMP_SYS(fcntl), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
      SCMP_SYS(lseek),
      // waiting
      SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(epoll_pwait2),
      SCMP_SYS(epoll_ctl), SCMP_SYS(timerfd_settime), SCMP_SYS(futex), SCMP_SYS(nanosleep),
      SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(sched_yield),
      SCMP_SYS(restart_syscall),
      // memory, randomness, who am I, the end
      SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
      SCMP_SYS(brk), SCMP_SYS(getrandom), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(rt_sigprocmask),
      SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(tgkill), SCMP_SYS(exit),
      SCMP_SYS(exit_group), SCMP_SYS(rseq), SCMP_SYS(set_robust_list), SCMP_SYS(sched_getaffinity),
      SCMP_SYS(getrusage)};
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)),
                                                          seccomp_release);
  if (!filter) return Error{"seccomp: out of memory"};
  int rc = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  for (const int call : kAllowed)
    if (rc == 0) rc = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
  if (rc == 0) rc = seccomp_load(filter.get());
  if (rc != 0) return Error{fmt::format("seccomp: {}", std::strerror(-rc))};
  return {};
#endif
}

}  // namespace assay::serve
