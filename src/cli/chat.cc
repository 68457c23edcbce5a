// assay chat MODEL: talk to a model in the terminal. The same engine as `serve`, in this process.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/model_argument.h"
#include "engine/load.h"
#include "serve/model_text.h"
#include "text/detokenizer.h"

namespace assay::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kHelp =
    "/help               this list\n"
    "/system TEXT        set the system message (empty: none) and start over\n"
    "/reset              forget the conversation\n"
    "/retry              answer the last message again\n"
    "/set NAME VALUE     temperature, top_p, top_k, min_p, repetition_penalty, max_tokens, seed\n"
    "/think on|off       let the model think first (templates that know enable_thinking)\n"
    "/stats              tokens and speed of the last answer\n"
    "/exit               leave (also Ctrl-D); Ctrl-C stops an answer\n";

std::atomic<bool> g_interrupted{false};

// A line from standard input without its newline; nullopt at the end. Ctrl-C gives an empty line.
std::optional<std::string> read_line() {
  static std::string buffer;
  while (true) {
    if (const size_t end = buffer.find('\n'); end != buffer.npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    char chunk[4096];
    const ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) return std::string();
    if (n <= 0) return buffer.empty() ? std::nullopt : std::optional(std::exchange(buffer, {}));
    buffer.append(chunk, static_cast<size_t>(n));
  }
}

// The engine on a thread of its own, and the events of the one request that is running.
class Backend {
 public:
  Result<void> load(const engine::EngineOptions& options, int32_t tokenizer_size,
                    const engine::Progress& progress) {
    auto loaded = engine::load_engine(
        options, tokenizer_size, [this](auto events) { take(events); }, progress);
    if (!loaded) return loaded.error();
    engine_ = std::move(loaded->engine);
    thread_ = std::jthread([this](std::stop_token stop) { engine_->run(stop); });
    return {};
  }
  void submit(engine::Request request) { engine_->submit(std::move(request)); }
  void cancel(engine::RequestId id) { engine_->cancel(id); }

  // The next event, or nullopt after 50 ms without one.
  std::optional<engine::TokenEvent> next() {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, std::chrono::milliseconds(50), [&] { return !events_.empty(); }))
      return std::nullopt;
    const engine::TokenEvent event = events_.front();
    events_.pop_front();
    return event;
  }

 private:
  void take(std::span<const engine::TokenEvent> events) {
    const std::lock_guard lock(mutex_);
    events_.insert(events_.end(), events.begin(), events.end());
    arrived_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<engine::TokenEvent> events_;
  std::unique_ptr<engine::Engine> engine_;
  std::jthread thread_;
};

class Chat {
 public:
  Chat(serve::ModelText text, Backend& backend, std::string system)
      : text_(std::move(text)), backend_(backend), system_(std::move(system)) {
    terminal_ = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    common_.sampling = text_.rules.defaults;
    reset();
  }

  void run() {
    if (terminal_) fmt::print("Type a message, or /help.\n");
    while (true) {
      if (terminal_) fmt::print("> ");
      std::fflush(stdout);
      g_interrupted = false;
      const auto line = read_line();
      if (!line) return;
      if (g_interrupted) fmt::print("\n(/exit or Ctrl-D leaves)\n");
      if (line->empty()) continue;
      if (line->front() != '/') {
        say("user", *line);
        answer();
      } else if (!command(*line)) {
        return;
      }
    }
  }

 private:
  void reset() {
    messages_ = text::jinja::Value::list();
    if (!system_.empty()) say("system", system_);
  }

  void say(const char* role, const std::string& content) {
    text::jinja::Value message;
    message.set("role", text::jinja::Value(role));
    message.set("content", text::jinja::Value(content));
    messages_.append(std::move(message));
  }

  // False: leave.
  bool command(const std::string& line) {
    const size_t space = line.find(' ');
    const std::string name = line.substr(0, space), rest = space == line.npos ? "" : line.substr(space + 1);
    if (name == "/exit" || name == "/quit") return false;
    if (name == "/help")
      fmt::print("{}", kHelp);
    else if (name == "/reset")
      reset();
    else if (name == "/system")
      system_ = rest, reset();
    else if (name == "/think" && (rest == "on" || rest == "off"))
      kwargs_.set("enable_thinking", text::jinja::Value(rest == "on"));
    else if (name == "/stats")
      fmt::print("{}\n", stats_);
    else if (name == "/retry")
      retry();
    else if (name == "/set")
      set(rest);
    else
      fmt::print("unknown: {}; /help lists what there is\n", line);
    return true;
  }

  void retry() {
    std::vector<text::jinja::Value> kept = messages_.items();
    const auto is_answer = [](const text::jinja::Value& m) {
      return m.find("role")->as_string().view() == "assistant";
    };
    if (!kept.empty() && is_answer(kept.back())) kept.pop_back();
    messages_ = text::jinja::Value::list(kept);
    if (kept.empty())
      fmt::print("nothing to answer yet\n");
    else
      answer();
  }

  void set(const std::string& rest) {
    const size_t space = rest.find(' ');
    const std::string name = rest.substr(0, space);
    char* end = nullptr;
    const std::string text = space == rest.npos ? "" : rest.substr(space + 1);
    const double value = std::strtod(text.c_str(), &end);
    engine::SamplingParams& p = common_.sampling;
    const bool number = !text.empty() && *end == '\0';
    if (number && name == "temperature" && value >= 0 && value <= 2)
      p.temperature = static_cast<float>(value);
    else if (number && name == "top_p" && value > 0 && value <= 1)
      p.top_p = static_cast<float>(value);
    else if (number && name == "min_p" && value >= 0 && value <= 1)
      p.min_p = static_cast<float>(value);
    else if (number && name == "top_k" && value >= 0 && value <= 1e6)
      p.top_k = static_cast<int32_t>(value);
    else if (number && name == "repetition_penalty" && value > 0 && value <= 2)
      p.repetition_penalty = static_cast<float>(value);
    else if (number && name == "max_tokens" && value >= 1 && value <= 1e6)
      common_.max_tokens = static_cast<int32_t>(value);
    else if (number && name == "seed" && value >= 0 && value < 0x1p53)
      common_.seed = static_cast<uint64_t>(value);
    else
      fmt::print(
          "usage: /set NAME VALUE with temperature 0-2, top_p (0-1], min_p 0-1, top_k >= 0, "
          "repetition_penalty (0-2], max_tokens >= 1, seed >= 0\n");
  }

  void answer() {
    serve::ChatRequest request{.common = common_, .messages = messages_, .kwargs = kwargs_};
    auto prepared = serve::prepare_chat(text_, std::move(request));
    if (!prepared) {
      fmt::print("{}\n", prepared.error().message);
      return;
    }
    engine::Request r{
        .id = ++last_id_, .prompt = prepared->prompts[0].ids, .sampling = prepared->common.sampling};
    r.sampling.max_tokens = prepared->max_tokens[0];
    const auto prompt_tokens = r.prompt.size();
    const auto start = Clock::now();
    backend_.submit(std::move(r));
    const std::string answer = stream(start, prompt_tokens);
    say("assistant", answer);
  }

  // Prints the running answer; Ctrl-C cancels it and keeps what came so far.
  std::string stream(Clock::time_point start, size_t prompt_tokens) {
    text::Detokenizer detokenizer(text_.tokenizer, true);
    std::string answer;
    int tokens = 0;
    Clock::time_point first = start;
    const auto show = [&](const std::string& piece) {
      answer += piece;
      fmt::print("{}", piece);
      std::fflush(stdout);
    };
    bool cancelled = false;
    while (true) {
      if (g_interrupted && !std::exchange(cancelled, true)) backend_.cancel(last_id_);
      const auto event = backend_.next();
      if (!event || event->request != last_id_) continue;
      if (event->token >= 0 && tokens++ == 0) first = Clock::now();
      if (event->token >= 0 && !event->is_stop_token) show(detokenizer.push(event->token));
      if (event->finish == engine::FinishReason::none) continue;
      show(detokenizer.flush());
      if (event->finish == engine::FinishReason::cancelled) fmt::print(" [stopped]");
      if (event->finish == engine::FinishReason::error)
        fmt::print(" [the engine could not go on: its output was not a number]");
      if (event->finish == engine::FinishReason::length) fmt::print(" [max_tokens]");
      break;
    }
    fmt::print("\n");
    const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
    const double decode = seconds(Clock::now() - first);
    stats_ =
        fmt::format("{} prompt tokens, first token after {:.3f} s, {} tokens, {:.1f} tokens/s", prompt_tokens,
                    seconds(first - start), tokens, tokens > 1 ? (tokens - 1) / decode : 0.0);
    return answer;
  }

  serve::ModelText text_;
  Backend& backend_;
  std::string system_;
  bool terminal_ = false;
  serve::CommonFields common_;
  text::jinja::Value messages_, kwargs_;
  engine::RequestId last_id_ = 0;
  std::string stats_ = "no answer yet";
};

struct ChatFlags {
  std::string model, system;
  engine::EngineOptions engine;
};

Result<void> run_chat(const ChatFlags& flags) {
  auto path = find_model(flags.model);
  if (!path) return path.error();
  serve::DoorOptions door{.model_path = path->folder, .served_names = {path->name}};
  door.context_length = flags.engine.context_length;
  auto text = serve::ModelText::load(door);
  if (!text) return text.error();
  if (!text->chat_template) return Error{text->no_template_reason};
  Backend backend;
  engine::EngineOptions options = flags.engine;
  options.model_path = path->folder;
  options.max_running_requests = 1;
  const bool terminal = isatty(STDERR_FILENO);
  const auto progress = [&](const std::string& phase, double fraction) {
    if (terminal) fmt::print(stderr, "\r\033[Kloading: {} {:.0f} %", phase, 100 * fraction);
    if (terminal && phase == "ready") fmt::print(stderr, "\r\033[K");
  };
  if (auto loaded = backend.load(options, text->tokenizer.size(), progress); !loaded) return loaded;
  struct sigaction action {};
  action.sa_handler = [](int) { g_interrupted = true; };  // no SA_RESTART: a waiting read ends too
  sigaction(SIGINT, &action, nullptr);
  Chat(*std::move(text), backend, flags.system).run();
  return {};
}

}  // namespace

void add_chat(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<ChatFlags>();
  CLI::App* command = app.add_subcommand("chat", "talk to a model in the terminal");
  command->add_option("MODEL", flags->model, "folder, or org/name; default: the embedded model");
  command->add_option("--system", flags->system, "system message");
  command->add_option("--context-length", flags->engine.context_length,
                      "longest conversation in tokens; 0 = the model's");
  command->add_option("--threads", flags->engine.threads, "CPU threads; 0 = all cores")
      ->check(CLI::Range(0, 1024));
  command->callback([flags, exit_code] {
    set_log_level(LogLevel::warning);
    if (auto ran = run_chat(*flags); !ran) {
      fmt::print(stderr, "assay chat: {}\n", ran.reason());
      *exit_code = 2;
    }
  });
}

}  // namespace assay::cli
