#include "serve/child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/log.h"

namespace assay::serve {
namespace {

Error system_error(const char* what) {
  return Error{fmt::format("{}: {}", what, std::strerror(errno))};
}

// A sealed-off file in memory: readable by the child that inherits it, by nobody else.
Result<Fd> memory_file(const std::string& content) {
  Fd file(memfd_create("assay-options", MFD_CLOEXEC));
  if (!file) return system_error("memfd_create");
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = write(file.get(), content.data() + done, content.size() - done);
    if (n <= 0) return system_error("write to memfd");
    done += static_cast<size_t>(n);
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return system_error("lseek");
  return file;
}

// Runs between fork and exec: only calls that are safe there.
[[noreturn]] void become_child(const char* name, int options, int control, int listen, pid_t parent) {
  // First out of the way of the fixed numbers, then onto them; dup2 clears close-on-exec.
  const int from[] = {fcntl(options, F_DUPFD, 16), fcntl(control, F_DUPFD, 16),
                      listen >= 0 ? fcntl(listen, F_DUPFD, 16) : -1};
  const int to[] = {kOptionsFd, kControlFd, kListenFd};
  for (int i = 0; i < 3; ++i) {
    if (from[i] < 0) continue;
    if (dup2(from[i], to[i]) < 0) _exit(4);
    close(from[i]);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(4);
  char program[] = "assay";
  char* argv[] = {program, const_cast<char*>(name), nullptr};
  execv("/proc/self/exe", argv);
  _exit(4);
}

}  // namespace

void Fd::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

Result<SocketPair> make_socket_pair(int type) {
  int fds[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0) return system_error("socketpair");
  return SocketPair{Fd(fds[0]), Fd(fds[1])};
}

bool send_control(int socket, Command command, int fd) {
  char byte = static_cast<char>(command);
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof(space);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &fd, sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

std::optional<ControlMessage> receive_control(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  ssize_t n;
  do {
    n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n != 1) return std::nullopt;
  ControlMessage result;
  result.command = static_cast<Command>(byte);
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head), sizeof(int));
    result.fd.reset(fd);
  }
  return result;
}

Result<pid_t> spawn_child(const char* name, const std::string& options_json, int control, int listen) {
  Result<Fd> options = memory_file(options_json);
  if (!options) return options.error();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return system_error("fork");
  if (pid == 0) become_child(name, options->get(), control, listen, parent);
  return pid;
}

Result<ServeOptions> begin_child(const char* name) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // exec of a plain file keeps it; said again in case it did not
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  set_log_name(name);
  Fd file(kOptionsFd);
  std::string content;
  char block[4096];
  ssize_t n;
  while ((n = read(file.get(), block, sizeof(block))) > 0) content.append(block, static_cast<size_t>(n));
  if (n < 0) return system_error("reading the options (this subcommand is started by `assay serve` only)");
  fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  Result<ServeOptions> options = options_from_json(content);
  if (options) {
    const std::string& level = options->door.log_level;
    set_log_level(level == "debug"     ? LogLevel::debug
                  : level == "warning" ? LogLevel::warning
                  : level == "error"   ? LogLevel::error
                                       : LogLevel::info);
  }
  return options;
}

}  // namespace assay::serve
