#include "serve/http_server.h"

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <thread>

#include "base/log.h"
#include "serve/http_session.h"

namespace assay::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int kKernelSendBytes = 128 << 10;

class AsioHttpServer final : public HttpServer {
 public:
  AsioHttpServer(const HttpOptions& options, HttpApp* app)
      : app_(app),
        most_(options.max_connections),
        acceptor_(asio::make_strand(io_)),
        pause_(acceptor_.get_executor()) {}

  Result<void> open(const HttpOptions& options) {
    boost::system::error_code error;
    if (!options.ssl_certfile.empty()) {
      tls_ = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
      tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                        asio::ssl::context::no_tlsv1_1);
      tls_->use_certificate_chain_file(options.ssl_certfile, error);
      if (error) return Error{fmt::format("--ssl-certfile {}: {}", options.ssl_certfile, error.message())};
      tls_->use_private_key_file(options.ssl_keyfile, asio::ssl::context::pem, error);
      if (error) return Error{fmt::format("--ssl-keyfile {}: {}", options.ssl_keyfile, error.message())};
    }
    sockaddr_storage address{};
    socklen_t length = sizeof(address);
    getsockname(options.listen_fd, reinterpret_cast<sockaddr*>(&address), &length);
    acceptor_.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), options.listen_fd, error);
    if (error) return Error{fmt::format("the inherited listening socket: {}", error.message())};
    accept();
    for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { io_.run(); });
    return {};
  }

  ~AsioHttpServer() override { AsioHttpServer::stop(); }

  void stop_accepting() override {
    asio::post(acceptor_.get_executor(), [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
    });
  }

  void stop() override {
    io_.stop();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  int connections() const override { return counts_->open; }
  int busy() const override { return counts_->busy; }

 private:
  void accept() {
    acceptor_.async_accept(
        asio::make_strand(io_), [this](boost::system::error_code error, tcp::socket socket) {
          if (!acceptor_.is_open()) return;
          if (error) {
            // Out of descriptors, most likely: wait for some to come back.
            pause_.expires_after(std::chrono::milliseconds(100));
            pause_.async_wait([this](boost::system::error_code) {
              if (acceptor_.is_open()) accept();
            });
            return;
          }
          if (counts_->open < most_) {
            boost::system::error_code ignored;
            socket.set_option(tcp::no_delay(true), ignored);
            // Else the kernel keeps up to 4 MiB for a client that does not read, times the connections.
            socket.set_option(asio::socket_base::send_buffer_size(kKernelSendBytes), ignored);
            start_session(std::move(socket), tls_.get(), app_, std::make_unique<ConnectionTicket>(counts_));
          }
          accept();
        });
  }

  HttpApp* app_;
  int most_;
  std::shared_ptr<ConnectionCounts> counts_ = std::make_shared<ConnectionCounts>();
  std::unique_ptr<asio::ssl::context> tls_;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options, HttpApp* app) {
  auto server = std::make_unique<AsioHttpServer>(options, app);
  Result<void> opened = server->open(options);
  if (!opened) return opened.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace assay::serve
