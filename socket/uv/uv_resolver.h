#pragma once

// Resolves names to addresses on libuv's thread pool. Callers that ask for the same name share one
// look-up. If a look-up fails, or takes too long for its caller, the addresses of the last good one
// are used, so that an outage of the name server does not become the library's. Numeric addresses
// and paths of Unix sockets need no look-up.
//
// Thread rule: belongs to one loop.

#include <sys/socket.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "socket/seam.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::socket {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};
// The same text for the same address.
std::string key_of(const Address& address);

class ResolveSink {
 public:
  // Called from Loop::turn(). `error` says why `addresses` is empty.
  virtual void on_resolved(std::vector<Address> addresses, std::string error) = 0;

 protected:
  ~ResolveSink() = default;
};

// A look-up that a caller waits for. Destroying it cancels.
class Lookup {
 public:
  virtual ~Lookup() = default;
  // Does not wait any longer if there was a good look-up of the name before.
  virtual void use_last_good() = 0;
};

class UvResolver {
 public:
  explicit UvResolver(UvLoop& loop) : loop_(loop) {}
  ~UvResolver();
  UvResolver(const UvResolver&) = delete;
  UvResolver& operator=(const UvResolver&) = delete;

  std::unique_ptr<Lookup> resolve(const Endpoint& endpoint, ResolveSink& sink);

 private:
  class Waiter;
  struct Query;

  void start(Query& query);
  void finish(Query& query, const std::vector<Address>& found, const std::string& error);

  UvLoop& loop_;
  std::map<std::string, std::shared_ptr<Query>> queries_;  // by host:port; kept for the last answer
};

}  // namespace sheaf::socket
