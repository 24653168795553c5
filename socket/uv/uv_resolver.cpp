#include "socket/uv/uv_resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <uv.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace sheaf::socket {
namespace {

// A path that is too long is cut and then not found; configurations refuse such paths.
void set_path(const std::string& path, Address& out) noexcept {
  auto* local = reinterpret_cast<sockaddr_un*>(&out.storage);
  local->sun_family = AF_UNIX;
  path.copy(local->sun_path, sizeof local->sun_path - 1);
  out.size = sizeof *local;
}

// Parses what needs no look-up: a numeric address or the path of a Unix socket.
bool parse_numeric(const Endpoint& endpoint, Address& out) noexcept {
  if (is_path(endpoint.host)) return set_path(endpoint.host, out), true;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  if (inet_pton(AF_INET, endpoint.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(endpoint.port);
    out.size = sizeof *v4;
    return true;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (inet_pton(AF_INET6, endpoint.host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(endpoint.port);
    out.size = sizeof *v6;
    return true;
  }
  return false;
}

std::vector<Address> copy_addresses(const addrinfo* list) {
  std::vector<Address> found;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (at->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Address address;
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    address.size = at->ai_addrlen;
    found.push_back(address);
  }
  return found;
}

}  // namespace

std::string key_of(const Address& address) {
  return {reinterpret_cast<const char*>(&address.storage), address.size};
}

struct UvResolver::Query {
  Endpoint endpoint;
  bool running = false;
  std::vector<Address> last_good;
  std::vector<Waiter*> waiters;
  UvResolver* resolver = nullptr;  // null once the resolver is gone
};

class UvResolver::Waiter final : public Lookup, private Deferred {
 public:
  Waiter(UvLoop& loop, std::shared_ptr<Query> query, ResolveSink& sink)
      : loop_(loop), query_(std::move(query)), sink_(sink) {
    if (query_ != nullptr) query_->waiters.push_back(this);
  }
  ~Waiter() override {
    loop_.forget(*this);
    if (query_ != nullptr) std::erase(query_->waiters, this);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void use_last_good() override {
    if (query_ != nullptr && !query_->last_good.empty()) answer(query_->last_good, {});
  }
  void answer(std::vector<Address> addresses, std::string error) {
    addresses_ = std::move(addresses);
    error_ = std::move(error);
    loop_.defer(*this);
  }

 private:
  void run_deferred(Now) override { sink_.on_resolved(std::move(addresses_), std::move(error_)); }

  UvLoop& loop_;
  std::shared_ptr<Query> query_;
  ResolveSink& sink_;
  std::vector<Address> addresses_;
  std::string error_;
};

UvResolver::~UvResolver() {
  for (auto& [name, query] : queries_) query->resolver = nullptr;
}

std::unique_ptr<Lookup> UvResolver::resolve(const Endpoint& endpoint, ResolveSink& sink) {
  if (Address address; parse_numeric(endpoint, address)) {
    auto waiter = std::make_unique<Waiter>(loop_, nullptr, sink);
    waiter->answer({address}, {});
    return waiter;
  }
  auto& query = queries_[join_host_port(endpoint.host, endpoint.port)];
  if (query == nullptr) {
    query = std::make_shared<Query>();
    query->endpoint = endpoint;
    query->resolver = this;
  }
  auto waiter = std::make_unique<Waiter>(loop_, query, sink);
  if (!query->running) start(*query);
  return waiter;
}

void UvResolver::start(Query& query) {
  struct Call {
    uv_getaddrinfo_t request{};
    std::shared_ptr<Query> query;
  };
  auto call = std::make_unique<Call>();
  call->request.data = call.get();
  call->query = queries_[join_host_port(query.endpoint.host, query.endpoint.port)];
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  query.running = true;
  const std::string service = std::to_string(query.endpoint.port);
  const int error = uv_getaddrinfo(
      loop_.raw(), &call->request,
      [](uv_getaddrinfo_t* request, int status, addrinfo* list) {
        const std::unique_ptr<Call> done(static_cast<Call*>(request->data));
        const auto found = status == 0 ? copy_addresses(list) : std::vector<Address>{};
        uv_freeaddrinfo(list);
        done->query->running = false;
        if (done->query->resolver == nullptr) return;
        done->query->resolver->loop_.now_in_turn();
        done->query->resolver->finish(*done->query, found,
                                      status == 0 ? "no address" : uv_strerror(status));
      },
      query.endpoint.host.c_str(), service.c_str(), &hints);
  if (error != 0) {
    query.running = false;
    finish(query, {}, uv_strerror(error));
    return;
  }
  call.release();  // NOLINT(bugprone-unused-return-value): owned by the callback
}

void UvResolver::finish(Query& query, const std::vector<Address>& found, const std::string& error) {
  if (!found.empty()) query.last_good = found;
  const std::vector<Address>& answer = found.empty() ? query.last_good : found;
  for (Waiter* waiter : query.waiters) {
    waiter->answer(answer, answer.empty() ? "name look-up failed: " + error : std::string{});
  }
}

}  // namespace sheaf::socket
