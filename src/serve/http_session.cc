#include "serve/http_session.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>

#include "base/log.h"
#include "serve/http_format.h"

namespace assay::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::seconds;

constexpr seconds kHeaderTime{10};  // total, from the first byte
constexpr seconds kIdleTime{60};    // between requests of one connection
constexpr seconds kBodyGrace{5};    // then at least kBodyRate
constexpr size_t kBodyRate = 1024;  // bytes a second
constexpr seconds kStallTime{30};   // one write that does not move: the reader is gone for us
constexpr seconds kPingTime{15};
constexpr seconds kLingerTime{2};  // after an early refusal: read on, so that the client sees the answer
constexpr size_t kReadAhead = 128u << 10;

// A timer whose late handlers are void: re-arming or disarming makes earlier ones do nothing.
class Alarm {
 public:
  explicit Alarm(const asio::any_io_executor& executor) : timer_(executor) {}
  template <class Then>
  void set(seconds after, Then then) {
    const uint64_t mine = ++*round_;
    timer_.expires_after(after);
    timer_.async_wait([round = round_, mine, then = std::move(then)](error_code) mutable {
      if (mine == *round) then();
    });
  }
  void clear() {
    ++*round_;
    timer_.cancel();
  }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<uint64_t> round_ = std::make_shared<uint64_t>(0);  // handlers may outlive the session
};

template <class Stream>
class Session final : public std::enable_shared_from_this<Session<Stream>> {
 public:
  template <class... Args>
  Session(HttpApp* app, std::unique_ptr<ConnectionTicket> ticket, Args&&... args)
      : stream_(std::forward<Args>(args)...),
        app_(app),
        ticket_(std::move(ticket)),
        read_alarm_(stream_.get_executor()),
        write_alarm_(stream_.get_executor()) {}

  void start() {
    asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if constexpr (kTls) {
        self->close_after(self->read_alarm_, kHeaderTime);
        self->stream_.async_handshake(asio::ssl::stream_base::server, [self](error_code error) {
          if (error) return self->close(Gone::closed);
          self->read_header();
        });
      } else {
        self->read_header();
      }
    });
  }

  // From any thread: the way in for Reply.
  template <class Work>
  void post(Work work) {
    asio::post(stream_.get_executor(),
               [self = this->shared_from_this(), work = std::move(work)]() mutable { work(*self); });
  }
  // False: this much unsent output is too much.
  bool reserve_backlog(size_t bytes) { return (backlog_ += bytes) <= kMaxStreamBacklog; }

  // The following run on the strand; `exchange` tells a late call for an ended exchange from a current one.
  void send(uint64_t exchange, const HttpResponse& response) {
    if (!current(exchange)) return;
    enqueue(format_response(response, head_.request_id, keep_alive_));
    finish_exchange();
  }
  void begin_stream(uint64_t exchange, const HttpResponse& head, std::string ping) {
    if (!current(exchange)) return;
    streaming_ = true;
    chunked_ = http11_;
    if (!chunked_) keep_alive_ = false;
    ping_ = std::move(ping);
    enqueue(format_stream_head(head, head_.request_id, keep_alive_, chunked_));
  }
  void write(uint64_t exchange, std::string bytes) {
    const size_t size = bytes.size();
    if (current(exchange) && streaming_) enqueue(chunked_ ? format_chunk(bytes) : std::move(bytes));
    backlog_ -= size;
  }
  void end_stream(uint64_t exchange) {
    if (!current(exchange)) return;
    if (chunked_) enqueue("0\r\n\r\n");
    finish_exchange();
  }
  void on_gone(uint64_t exchange, std::function<void(Gone)> callback) {
    if (closed_) return callback(gone_why_);
    if (current(exchange)) gone_ = std::move(callback);
  }
  void overflow(uint64_t exchange) {
    if (!current(exchange)) return;
    log_warning("request {}: the client reads too slowly, more than {} bytes wait: cancelled",
                head_.request_id, kMaxStreamBacklog);
    close(Gone::overflowed);
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, tcp::socket>;
  using Parser = http::request_parser<http::string_body>;

  tcp::socket& socket() {
    if constexpr (kTls)
      return stream_.next_layer();
    else
      return stream_;
  }
  bool current(uint64_t exchange) const { return !closed_ && in_exchange_ && exchange == exchange_; }

  void close_after(Alarm& alarm, seconds time) {
    alarm.set(time, [weak = this->weak_from_this()] {
      if (auto self = weak.lock()) self->close(Gone::stalled);
    });
  }

  void close(Gone why) {
    if (closed_) return;
    closed_ = true;
    gone_why_ = why;
    ticket_->set_busy(false);
    read_alarm_.clear();
    write_alarm_.clear();
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
    budget_.reset();
    if (auto callback = std::exchange(gone_, nullptr)) callback(why);
  }

  void read_header() {
    parser_.emplace();
    head_ = {};
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(kMaxBodyBytes);
    chunks_ = 0;
    close_after(read_alarm_, kHeaderTime);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](error_code error, size_t) { self->on_header(error); });
  }

  void on_header(error_code error) {
    if (closed_) return;
    if (error) return on_bad_bytes(error);
    const auto& message = parser_->get();
    http11_ = message.version() == 11;
    keep_alive_ = message.keep_alive();
    head_ = read_head(message);
    ++exchange_;
    in_exchange_ = true;
    ticket_->set_busy(true);
    streaming_ = false;
    if (message.target().size() > kMaxTargetBytes)
      return refuse(414, "the request line is longer than 8192 bytes");
    if (std::distance(message.begin(), message.end()) > static_cast<ptrdiff_t>(kMaxHeaderFields))
      return refuse(431, "more than 64 header fields");
    if (std::optional<HttpResponse> answer = app_->admit(head_)) return refuse(*answer);
    on_chunk_ = [this](uint64_t, beast::string_view, error_code& e) {
      if (++chunks_ > kMaxChunks) e = http::error::body_limit;
    };
    parser_->on_chunk_header(on_chunk_);
    body_since_ = std::chrono::steady_clock::now();
    body_read_ = 0;
    budget_ = ticket_->new_budget();
    if (beast::iequals(message[http::field::expect], "100-continue") && buffer_.size() == 0)
      enqueue("HTTP/1.1 100 Continue\r\n\r\n");
    read_body();
  }

  static HttpHead read_head(const http::request<http::string_body>& message) {
    const auto text = [](beast::string_view v) { return std::string(v.data(), v.size()); };
    HttpHead head;
    head.method = text(message.method_string());
    head.path = text(message.target());
    head.path.resize(std::min(head.path.find('?'), head.path.size()));
    head.authorization = text(message[http::field::authorization]);
    head.request_id = choose_request_id(text(message["x-request-id"]));
    return head;
  }

  void read_body() {
    if (parser_->is_done()) return dispatch();
    close_after(read_alarm_, kBodyGrace);
    http::async_read_some(
        stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code error, size_t n) {
          if (self->closed_) return;
          if (error) return self->on_bad_bytes(error);
          self->body_read_ += n;
          if (!self->budget_->take(n)) return self->refuse(429, "too many request bodies at once; try again");
          const auto spent = std::chrono::steady_clock::now() - self->body_since_ - kBodyGrace;
          const double due = std::chrono::duration<double>(spent).count() * kBodyRate;
          if (!self->parser_->is_done() && due > static_cast<double>(self->body_read_))
            return self->refuse(408, "the body arrives slower than 1024 bytes a second");
          self->read_body();
        });
  }

  void on_bad_bytes(error_code error) {
    if (error == http::error::body_limit)
      return refuse(413, "the body is longer than 4194304 bytes (or has more than 4096 chunks)");
    if (error == http::error::header_limit) return refuse(431, "the header is longer than 16384 bytes");
    const bool parse_error = error.category() == make_error_code(http::error::bad_target).category();
    if (parse_error && error != http::error::end_of_stream && error != http::error::partial_message)
      return refuse(400, "not an HTTP/1.1 request: " + error.message());
    close(Gone::closed);
  }

  void refuse(int status, std::string_view why) { refuse(app_->malformed(status, why)); }
  // An answer before the whole request was read: the connection ends with it.
  void refuse(const HttpResponse& answer) {
    if (head_.request_id.empty()) head_.request_id = choose_request_id("");
    const bool all_read = parser_->is_done() || (parser_->is_header_done() && parser_->content_length() &&
                                                 *parser_->content_length() == 0);
    in_exchange_ = true;
    if (!all_read) keep_alive_ = false;
    lingers_ = !all_read;
    enqueue(format_response(answer, head_.request_id, keep_alive_));
    finish_exchange();
  }

  void dispatch();

  // While the app works: a byte is the next request, an end is a client that left. Who pipelines requests is
  // watched by the writes only: the bytes read ahead must not be mixed with a second reader's.
  void watch_peer() {
    if (watching_ || closed_ || (buffer_.size() > 0 && !lingers_)) return;
    watching_ = true;
    stream_.async_read_some(
        asio::buffer(peek_), [self = this->shared_from_this()](error_code error, size_t n) {
          self->watching_ = false;
          if (self->closed_) return;
          if (error) return self->close(Gone::closed);
          if (!self->lingers_)
            self->buffer_.commit(asio::buffer_copy(self->buffer_.prepare(n), asio::buffer(self->peek_, n)));
          if (self->in_exchange_ || self->lingers_) return self->watch_peer();
          if (self->writing_.empty()) self->read_header();
        });
  }

  void enqueue(std::string bytes) {
    if (closed_) return;
    backlog_ += bytes.size();
    pending_.push_back(std::move(bytes));
    flush();
  }

  void flush() {
    if (!writing_.empty() || closed_) return;
    if (pending_.empty()) return on_drained();
    writing_.swap(pending_);
    std::vector<asio::const_buffer> buffers;
    for (const std::string& bytes : writing_) buffers.emplace_back(bytes.data(), bytes.size());
    write_moved_ = false;
    watch_write();
    asio::async_write(
        stream_, buffers,
        [self = this->shared_from_this()](error_code error, size_t n) -> size_t {
          self->write_moved_ |= n > 0;
          return error ? 0 : 65536;
        },
        [self = this->shared_from_this()](error_code error, size_t) {
          for (const std::string& bytes : self->writing_) self->backlog_ -= bytes.size();
          self->writing_.clear();
          if (self->closed_) return;
          if (error) return self->close(Gone::closed);
          self->flush();
        });
  }

  void watch_write() {
    write_alarm_.set(kStallTime, [weak = this->weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      if (std::exchange(self->write_moved_, false)) return self->watch_write();
      log_warning("request {}: the client has not read for {} s: cancelled", self->head_.request_id,
                  kStallTime.count());
      self->close(Gone::stalled);
    });
  }

  // Everything queued has been sent.
  void on_drained() {
    write_alarm_.clear();
    if (in_exchange_) {
      if (streaming_ && !ping_.empty())
        write_alarm_.set(kPingTime, [weak = this->weak_from_this()] {
          auto self = weak.lock();
          if (self) self->enqueue(self->chunked_ ? format_chunk(self->ping_) : self->ping_);
        });
      return;
    }
    ticket_->set_busy(false);
    if (!keep_alive_) return lingers_ ? linger() : hang_up();
    if (buffer_.size() > 0 && !watching_) return read_header();
    close_after(read_alarm_, kIdleTime);
    watch_peer();
  }

  void hang_up() {
    if constexpr (kTls) {
      close_after(read_alarm_, kLingerTime);
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->close(Gone::closed); });
    } else {
      close(Gone::closed);
    }
  }

  void linger() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    close_after(read_alarm_, kLingerTime);
    watch_peer();
  }

  void finish_exchange() {
    in_exchange_ = false;
    streaming_ = false;
    gone_ = nullptr;
    flush();
  }

  Stream stream_;
  HttpApp* app_;
  std::unique_ptr<ConnectionTicket> ticket_;
  Alarm read_alarm_, write_alarm_;
  beast::flat_buffer buffer_{kReadAhead};
  std::optional<Parser> parser_;
  std::function<void(uint64_t, beast::string_view, error_code&)> on_chunk_;
  size_t chunks_ = 0;
  size_t body_read_ = 0;
  std::shared_ptr<BodyBudget> budget_;
  std::chrono::steady_clock::time_point body_since_;
  HttpHead head_;
  bool http11_ = true;
  bool keep_alive_ = false;
  bool in_exchange_ = false;
  bool streaming_ = false;
  bool chunked_ = false;
  bool watching_ = false;
  bool lingers_ = false;
  bool closed_ = false;
  bool write_moved_ = false;
  Gone gone_why_ = Gone::closed;
  uint64_t exchange_ = 0;
  std::string ping_;
  std::function<void(Gone)> gone_;
  std::vector<std::string> pending_, writing_;
  std::atomic<size_t> backlog_{0};
  std::array<char, 4096> peek_;
};

template <class Stream>
class Reply final : public HttpReply {
 public:
  Reply(std::shared_ptr<Session<Stream>> session, uint64_t exchange)
      : session_(std::move(session)), exchange_(exchange) {}

  void send(HttpResponse response) override {
    session_->post([e = exchange_, r = std::move(response)](auto& s) { s.send(e, r); });
  }
  void begin_stream(HttpResponse head, std::string ping) override {
    session_->post(
        [e = exchange_, h = std::move(head), p = std::move(ping)](auto& s) { s.begin_stream(e, h, p); });
  }
  void write(std::string bytes) override {
    if (overflowed_) return;
    if (!session_->reserve_backlog(bytes.size())) {
      overflowed_ = true;
      session_->post([e = exchange_](auto& s) { s.overflow(e); });
      return;
    }
    session_->post([e = exchange_, b = std::move(bytes)](auto& s) mutable { s.write(e, std::move(b)); });
  }
  void end_stream() override {
    session_->post([e = exchange_](auto& s) { s.end_stream(e); });
  }
  void on_gone(std::function<void(Gone)> callback) override {
    session_->post([e = exchange_, c = std::move(callback)](auto& s) { s.on_gone(e, c); });
  }

 private:
  std::shared_ptr<Session<Stream>> session_;
  uint64_t exchange_;
  std::atomic<bool> overflowed_{false};
};

template <class Stream>
void Session<Stream>::dispatch() {
  read_alarm_.clear();
  HttpRequest request{head_, std::move(parser_->get().body()), std::exchange(budget_, nullptr)};
  auto reply = std::make_shared<Reply<Stream>>(this->shared_from_this(), exchange_);
  watch_peer();
  app_->serve(std::move(request), std::move(reply));
}

}  // namespace

void start_session(tcp::socket socket, asio::ssl::context* tls, HttpApp* app,
                   std::unique_ptr<ConnectionTicket> ticket) {
  if (tls != nullptr)
    std::make_shared<Session<asio::ssl::stream<tcp::socket>>>(app, std::move(ticket), std::move(socket), *tls)
        ->start();
  else
    std::make_shared<Session<tcp::socket>>(app, std::move(ticket), std::move(socket))->start();
}

}  // namespace assay::serve
