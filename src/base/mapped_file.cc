#include "base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace assay {
namespace {

Error system_error(const std::string& path, const char* verb) {
  return Error{fmt::format("cannot {} {}: {}", verb, path, std::strerror(errno))};
}

// An open descriptor of a regular file and its size.
struct OpenFile {
  int fd = -1;
  size_t size = 0;
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
};

Result<void> open_regular(const std::string& path, OpenFile* file) {
  // Non-blocking, so that a pipe in a file's place is refused instead of waited for.
  file->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->fd < 0) return system_error(path, "open");
  struct stat info {};
  if (fstat(file->fd, &info) != 0) return system_error(path, "stat");
  if (!S_ISREG(info.st_mode)) return Error{path + " is not a regular file"};
  file->size = static_cast<size_t>(info.st_size);
  return {};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  OpenFile file;
  if (auto opened = open_regular(path, &file); !opened) return opened.error();
  MappedFile mapped;
  mapped.path_ = path;
  if (file.size > 0) {
    void* p = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (p == MAP_FAILED) return system_error(path, "map");
    mapped.data_ = static_cast<const std::byte*>(p);
    mapped.size_ = file.size;
  }
  return mapped;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  OpenFile file;
  if (auto opened = open_regular(path, &file); !opened) return opened.error();
  if (file.size > limit) {
    return Error{fmt::format("{} has {} bytes; at most {} are read", path, file.size, limit)};
  }
  std::string text(file.size, '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::read(file.fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(path, "read");
    if (n == 0) return Error{fmt::format("{} ended after {} of {} bytes", path, done, text.size())};
    done += static_cast<size_t>(n);
  }
  return text;
}

}  // namespace assay
