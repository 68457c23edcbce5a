#pragma once
// Child: what supervisor, door and engine share to start each other and to pass commands and descriptors.
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "serve/options.h"

namespace assay::serve {

// Owns a descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }
  void reset(int fd = -1);
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct SocketPair {
  Fd left, right;
};
Result<SocketPair> make_socket_pair(int type);

// Descriptors at fixed numbers in a child, so that its command line is empty.
inline constexpr int kOptionsFd = 3;  // JSON, read to its end
inline constexpr int kControlFd = 4;  // SOCK_SEQPACKET to the supervisor
inline constexpr int kListenFd = 5;   // door only

// One byte over the control socket, perhaps with a descriptor.
enum class Command : char {
  wire = 'w',    // to a child: the attached descriptor is the new wire to its peer
  drain = 'd',   // to the door: finish what runs, refuse the rest, then exit
  stop = 's',    // to a child: exit now
  loaded = 'l',  // from the engine: the model serves
};
struct ControlMessage {
  Command command = Command::stop;
  Fd fd;
};
bool send_control(int socket, Command command, int fd = -1);
// Blocks; nullopt when the peer is gone.
std::optional<ControlMessage> receive_control(int socket);

// Starts this very program as `name` (a hidden subcommand) with the three descriptors; `listen` may be -1.
Result<pid_t> spawn_child(const char* name, const std::string& options_json, int control, int listen);

// In a child: dies with its parent, ignores the terminal's and the service manager's signals (commands come
// over the control socket), names its log lines and reads its options.
Result<ServeOptions> begin_child(const char* name);

}  // namespace assay::serve
