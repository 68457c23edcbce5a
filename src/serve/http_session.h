#pragma once
// Session: one connection, one exchange at a time. Included by http_server.cc and http_session.cc only,
// because it carries Asio types.
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "serve/http_server.h"

namespace assay::serve {

struct ConnectionCounts {
  std::atomic<int> open{0}, busy{0};
  std::atomic<size_t> body_bytes{0};
};

// A body's bytes in memory, counted with those of all other connections.
class BodyBudget {
 public:
  explicit BodyBudget(std::shared_ptr<ConnectionCounts> counts) : counts_(std::move(counts)) {}
  ~BodyBudget() { counts_->body_bytes -= bytes_; }
  BodyBudget(const BodyBudget&) = delete;
  BodyBudget& operator=(const BodyBudget&) = delete;
  // False when all bodies together are too much.
  bool take(size_t bytes) {
    bytes_ += bytes;
    return (counts_->body_bytes += bytes) <= kMaxBodiesBytes;
  }

 private:
  std::shared_ptr<ConnectionCounts> counts_;
  size_t bytes_ = 0;
};

// Counts a connection, and whether it works on a request; a session holds one.
class ConnectionTicket {
 public:
  explicit ConnectionTicket(std::shared_ptr<ConnectionCounts> counts) : counts_(std::move(counts)) {
    ++counts_->open;
  }
  ~ConnectionTicket() {
    set_busy(false);
    --counts_->open;
  }
  ConnectionTicket(const ConnectionTicket&) = delete;
  ConnectionTicket& operator=(const ConnectionTicket&) = delete;
  std::shared_ptr<BodyBudget> new_budget() const { return std::make_shared<BodyBudget>(counts_); }
  void set_busy(bool busy) {
    if (busy != busy_) counts_->busy += busy ? 1 : -1;
    busy_ = busy;
  }

 private:
  std::shared_ptr<ConnectionCounts> counts_;
  bool busy_ = false;
};

// Starts the life of an accepted connection; it keeps itself alive. The socket's executor is a strand.
void start_session(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls, HttpApp* app,
                   std::unique_ptr<ConnectionTicket> ticket);

}  // namespace assay::serve
