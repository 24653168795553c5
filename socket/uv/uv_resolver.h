#pragma once

// Names to addresses, by libuv's pool. One look-up in flight for a name, however many ask; when a
// look-up fails, the addresses of the last good one serve (an outage of the name server is not the
// library's). A numeric address and the path of a Unix socket need no look-up.
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

class ResolveSink {
 public:
  // Out of Loop::turn(); `error` says why `addresses` is empty.
  virtual void on_resolved(std::vector<Address> addresses, std::string error) = 0;

 protected:
  ~ResolveSink() = default;
};

// A look-up that somebody waits for; destroying it cancels.
class Lookup {
 public:
  virtual ~Lookup() = default;
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
