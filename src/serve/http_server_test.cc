// HTTP over real sockets with a small application behind it.
#include "serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay::serve {
namespace {

class EchoApp final : public HttpApp {
 public:
  std::optional<HttpResponse> admit(const HttpHead& head) override {
    if (head.path == "/no") return HttpResponse{404, "no", "text/plain", {}};
    return std::nullopt;
  }
  void serve(HttpRequest request, std::shared_ptr<HttpReply> reply) override {
    if (request.head.path == "/wait" || request.head.path == "/flood") {
      reply->on_gone([this](Gone why) {
        std::lock_guard lock(mutex_);
        gone_ = why;
        changed_.notify_all();
      });
      if (request.head.path == "/flood") {
        reply->begin_stream({}, "");
        for (int i = 0; i < 4000; ++i) reply->write(std::string(4096, 'x'));
      }
      std::lock_guard lock(mutex_);
      waiting_ = reply;
      return;
    }
    if (request.head.path == "/stream") {
      reply->begin_stream({}, "");
      std::thread([reply] {
        for (int i = 0; i < 3; ++i) reply->write("part\n");
        reply->end_stream();
      }).detach();
      return;
    }
    reply->send({200, request.head.method + " " + request.body, "text/plain", {}});
  }
  HttpResponse malformed(int status, std::string_view why) override {
    return {status, std::string(why), "text/plain", {}};
  }

  // A reply must not outlive the server whose connection it holds.
  void forget_replies() {
    std::lock_guard lock(mutex_);
    waiting_.reset();
  }
  std::optional<Gone> wait_gone(int ms) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(ms), [&] { return gone_.has_value(); });
    return gone_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Gone> gone_;
  std::shared_ptr<HttpReply> waiting_;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(listen(fd, 64), 0);
    socklen_t length = sizeof(address);
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
    address_ = address;
    HttpOptions options;
    options.listen_fd = fd;
    options.max_connections = 20;
    Result<std::unique_ptr<HttpServer>> server = HttpServer::start(options, &app_);
    ASSERT_TRUE(server) << server.reason();
    server_ = std::move(*server);
  }

  void TearDown() override {
    if (server_) server_->stop();
    app_.forget_replies();
  }

  int dial() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address_), sizeof(address_)), 0);
    return fd;
  }
  // Sends all, then reads to the end or for `ms` milliseconds of silence.
  static std::string talk(int fd, std::string_view bytes, int ms = 300) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) break;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    std::string got;
    char block[4096];
    pollfd p{fd, POLLIN, 0};
    while (poll(&p, 1, ms) > 0) {
      const ssize_t n = read(fd, block, sizeof(block));
      if (n <= 0) break;
      got.append(block, static_cast<size_t>(n));
    }
    return got;
  }
  std::string ask(std::string_view bytes) {
    const int fd = dial();
    std::string got = talk(fd, bytes);
    close(fd);
    return got;
  }

  EchoApp app_;
  sockaddr_in address_{};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  const int fd = dial();
  for (int i = 0; i < 3; ++i) {
    const std::string got =
        talk(fd, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nx-request-id: r1\r\n\r\nabc", 100);
    EXPECT_NE(got.find("HTTP/1.1 200 OK\r\n"), got.npos) << got;
    EXPECT_NE(got.find("POST abc"), got.npos) << got;
    EXPECT_NE(got.find("x-request-id: r1\r\n"), got.npos) << got;
  }
  const std::string get = "GET /y HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string pipelined = talk(fd, get + get + get, 100);
  EXPECT_EQ(std::count(pipelined.begin(), pipelined.end(), 'Y'), 0);
  size_t answers = 0;
  for (size_t at = 0; (at = pipelined.find("200 OK", at)) != pipelined.npos; ++at) ++answers;
  EXPECT_EQ(answers, 3u) << pipelined;
  close(fd);
}

TEST_F(HttpServerTest, ChunkedBodiesAndStreams) {
  const std::string got = ask(
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_NE(got.find("POST abcde"), got.npos) << got;
  const std::string stream = ask("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(stream.find("5\r\npart\n\r\n5\r\npart\n\r\n5\r\npart\n\r\n0\r\n\r\n"), stream.npos) << stream;
  const std::string old = ask("GET /stream HTTP/1.0\r\nHost: a\r\n\r\n");
  EXPECT_NE(old.find("\r\n\r\npart\npart\npart\n"), old.npos) << old;
}

TEST_F(HttpServerTest, RefusesWhatIsNotHttp) {
  const auto status = [&](const std::string& request) {
    const std::string got = ask(request);
    return got.substr(0, 12);
  };
  EXPECT_EQ(status("nonsense\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nbad header\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc"),
            "HTTP/1.1 400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"), "HTTP/1.1 413");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n"), "HTTP/1.1 431");
  EXPECT_EQ(status("GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n"), "HTTP/1.1 414");
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 65; ++i) many.append("a").append(std::to_string(i)).append(": b\r\n");
  EXPECT_EQ(status(many + "\r\n"), "HTTP/1.1 431");
  std::string chunks = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 5000; ++i) chunks += "1\r\na\r\n";
  EXPECT_EQ(status(chunks + "0\r\n\r\n"), "HTTP/1.1 413");
  EXPECT_EQ(status("GET /no HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 404");
  EXPECT_EQ(status("GET /fine HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 200");
}

TEST_F(HttpServerTest, TellsThatTheClientLeft) {
  const int fd = dial();
  talk(fd, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n", 50);
  EXPECT_FALSE(app_.wait_gone(50).has_value());
  close(fd);
  EXPECT_EQ(app_.wait_gone(1000), Gone::closed);
}

TEST_F(HttpServerTest, CutsOffASlowReader) {
  const int fd = dial();
  const std::string request = "GET /flood HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_EQ(::send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  EXPECT_EQ(app_.wait_gone(3000), Gone::overflowed);
  close(fd);
}

TEST_F(HttpServerTest, ConnectionsBeyondTheLimitAreClosed) {
  std::vector<int> fds;
  for (int i = 0; i < 30; ++i) fds.push_back(dial());
  int served = 0;
  for (int fd : fds) served += talk(fd, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", 50).empty() ? 0 : 1;
  EXPECT_EQ(served, 20);
  for (int fd : fds) close(fd);
}

}  // namespace
}  // namespace assay::serve
