#include "kernels/prove/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/check.h"

namespace assay::kernels {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMaxLineBytes = 4096;
constexpr int kPollMilliseconds = 20;
constexpr std::chrono::seconds kReapLimit{10};

void write_line(int out, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  [[maybe_unused]] const ssize_t written = write(out, line.data(), line.size());
}

int64_t resident_bytes(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/statm", pid));
  int64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// The running child and its pipe.
class Child {
 public:
  explicit Child(const ProofTask& task) {
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    const std::vector<std::string> words = {"assay",     "prove-worker",
                                            "--problem", task.problem,
                                            "--runner",  task.runner,
                                            "--seed",    std::to_string(task.seed),
                                            "--threads", std::to_string(task.threads)};
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_ = fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(ends[1], STDOUT_FILENO);
      execv("/proc/self/exe", argv.data());
      _exit(127);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Child() { close(pipe_); }

  // What arrived within one poll; false at the end of the pipe.
  bool read_some(std::string& into) const {
    pollfd wait{pipe_, POLLIN, 0};
    if (poll(&wait, 1, kPollMilliseconds) <= 0) return true;
    char chunk[4096];
    const ssize_t n = read(pipe_, chunk, sizeof chunk);
    if (n > 0) into.append(chunk, static_cast<size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
  }
  int64_t resident() const { return resident_bytes(pid_); }
  void kill_it() const { ::kill(pid_, SIGKILL); }

  // The wait status, or nullopt when the process cannot be reaped.
  std::optional<int> reap() const {
    int status = 0;
    for (const auto start = Clock::now(); Clock::now() - start < kReapLimit; usleep(2000)) {
      if (waitpid(pid_, &status, WNOHANG) == pid_) return status;
    }
    return std::nullopt;
  }

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

std::string death(std::optional<int> status) {
  if (!status) return "could not be reaped within 10 s: this device is suspect";
  if (WIFSIGNALED(*status))
    return fmt::format("died of signal {} ({})", WTERMSIG(*status), strsignal(WTERMSIG(*status)));
  return fmt::format("exited with code {} without an answer", WEXITSTATUS(*status));
}

}  // namespace

int run_prove_worker(const ProofTask& task, int out) {
  auto prover = prover_of(task.problem);
  auto opened = prover ? (*prover)->open(task.problem, task.runner, task.seed)
                       : Result<std::unique_ptr<OpenRunner>>(prover.error());
  if (!opened) {
    write_line(out, "failed " + opened.reason());
    return 1;
  }
  const Proof proof = prove(**opened, task.seed, task.threads,
                            [&](const std::string& name) { write_line(out, "case " + name); });
  if (!proof.passed()) {
    write_line(out, "failed " + proof.failure);
    return 1;
  }
  write_line(out, fmt::format("proven {} {} {} {}", proof.executions, proof.kinds, proof.worst_ratio,
                              proof.worst_case));
  return 0;
}

bool read_worker_line(const std::string& line, Proof& proof, std::string& last_case, bool& finished) {
  if (line.starts_with("case ")) {
    last_case = line.substr(5);
    return !finished;
  }
  if (line.starts_with("failed ") && !finished) {
    proof.failure = line.substr(7);
    return finished = true;
  }
  if (!line.starts_with("proven ") || finished) return false;
  std::istringstream words(line.substr(7));
  if (!(words >> proof.executions >> proof.kinds >> proof.worst_ratio)) return false;
  std::getline(words >> std::ws, proof.worst_case);
  if (proof.executions < kMinExecutions || proof.kinds < kValueKinds || !(proof.worst_ratio <= 1))
    return false;
  return finished = true;
}

WorkerResult prove_in_child(const ProofTask& task, const WorkerLimits& limits) {
  const auto start = Clock::now();
  WorkerResult result;
  Child child(task);
  std::string buffer, last_case = "none", trouble;
  bool finished = false, open = true;
  while (open && trouble.empty()) {
    open = child.read_some(buffer);
    for (size_t end = buffer.find('\n'); end != buffer.npos && trouble.empty(); end = buffer.find('\n')) {
      const std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      if (!read_worker_line(line, result.proof, last_case, finished))
        trouble = fmt::format("answered nonsense: {:?}", line.substr(0, 80));
    }
    if (buffer.size() > kMaxLineBytes) trouble = "answered nonsense: a line without end";
    if (Clock::now() - start > limits.wall)
      trouble = fmt::format("hung: no end after {} s", limits.wall.count());
    if (child.resident() > limits.resident_bytes)
      trouble = fmt::format("took more than {} MB of memory", limits.resident_bytes >> 20);
  }
  if (!trouble.empty()) child.kill_it();
  const auto status = child.reap();
  const bool clean =
      status && WIFEXITED(*status) && (WEXITSTATUS(*status) == 0 || !result.proof.failure.empty());
  if (trouble.empty() && (!finished || !clean)) trouble = death(status);
  if (!trouble.empty()) result.proof.failure = fmt::format("{} (last case begun: {})", trouble, last_case);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace assay::kernels
