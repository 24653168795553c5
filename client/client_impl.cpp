#include "client/client_impl.h"

#include <new>
#include <system_error>
#include <utility>

#include "client/calls/node_calls.h"
#include "client/runtime/outcomes.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::runtime::local_error;

// Releases, for others, the lists that this client is changing.
class CloseLists {
 public:
  struct Out {};
  CloseLists(client::calls::WorkEnd& end, client::list::ListRegistry& lists)
      : end_(end), lists_(lists) {}
  void start(Now now) { lists_.close(end_, now); }
  Out take() { return {}; }

 private:
  client::calls::WorkEnd& end_;
  client::list::ListRegistry& lists_;
};

}  // namespace

Result<std::unique_ptr<Client::Impl>> Client::Impl::make(ClusterConfig config,
                                                         ClientOptions options) {
  try {
    std::unique_ptr<Impl> impl(new Impl(std::move(config), std::move(options)));
    if (auto opened = impl->open(); !opened) return Failure(std::move(opened.error()));
    impl->context_.start();
    return impl;
  } catch (const std::bad_alloc&) {
    return Failure(local_error(Outcome::overloaded, Reason::out_of_memory, "out of memory"));
  } catch (const std::system_error& error) {
    return Failure(client::runtime::no_thread(error));
  }
}

std::shared_ptr<Client::Impl> Client::Impl::make_closed(Error why) {
  ClusterConfig config;
  config.kind = EndpointKind::embedded;
  config.embedded_name = "sheaf.closed";
  config.nodes.push_back({"embedded", 0, 1});
  std::shared_ptr<Impl> impl(new Impl(std::move(config), {}));
  impl->context_.set_closed_error(std::move(why));
  if (!impl->open()) throw std::bad_alloc();  // nothing else can be missing
  impl->close();                              // it never had a thread
  return impl;
}

const std::shared_ptr<Client::Impl>& Client::Impl::moved_from() {
  // Never destroyed: the destructor of a static object may, wrongly, still use a client.
  static const auto* const impl = new std::shared_ptr<Impl>(
      make_closed(local_error(Outcome::shutdown, Reason::closed, "the client was moved from")));
  return *impl;
}

Client::Impl::Impl(ClusterConfig config, ClientOptions options)
    : context_(std::move(config), std::move(options)) {}

Result<void> Client::Impl::open() {
  Random random(entropy());
  if (auto opened = context_.open(random); !opened) return opened;
  client::watch::WatchRegistryOptions watching;
  watching.key.compare = protocol::traits_of(context_.config().kind).compare_versions;
  // Where slots move by themselves, a key may leave its server without notice to its watchers.
  if (context_.cluster().redirects() != nullptr) watching.key.audit = std::chrono::seconds(10);
  watches_ = std::make_unique<client::watch::WatchService>(context_, random.fork(), watching);
  procedures_ = std::make_unique<client::calls::ProcedureHost>(
      context_.path().loop(), context_.cluster(), &watches_->registry, &context_.unheard());
  computations_ =
      std::make_unique<client::compute::ComputeService>(context_, *procedures_, random.fork());
  locks_ = std::make_unique<client::lock::LockService>(context_, *procedures_);
  lists_ = std::make_unique<client::list::ListService>(context_, *procedures_, random.fork());
  return {};
}

Client::Impl::~Impl() { close(); }

void Client::Impl::close() noexcept {
  if (std::exchange(closed_, true)) return;
  if (context_.forked()) {
    abandon();
  } else {
    shut_down();
  }
}

Metrics Client::Impl::metrics() {
  return client::calls::metrics(context_, [this](Metrics& metrics) {
    metrics.lists = lists_->registry.counts();
    metrics.watches = watches_->registry.counts();
  });
}

void Client::Impl::shut_down() noexcept {
  context_.refuse_calls();
  context_.stop_asking();
  if (lists_ != nullptr) {
    client::runtime::Path& path = context_.path();
    client::calls::Blocking<CloseLists>(path.lane(), {}, lists_->registry).wait();
    client::watch::SessionRegistry::Sessions watching;
    path.run([&](Now now) {
      watching = watches_->sessions.shut_down(now);
      procedures_->shut_down(now);
      watches_->registry.shut_down(now);
      context_.cluster().shut_down(now);
    });
    // Calls of handles end now; what they posted meanwhile runs before the lane stops.
    context_.wait_for_entries();
    path.run([](Now) {});
    path.stop([this] { return context_.cluster().empty() && watches_->registry.empty(); });
    for (const auto& session : watching) session->finish_callback();
  }
  context_.dispatcher().close();
}

void Client::Impl::abandon() noexcept {
  context_.abandon();
  static_cast<void>(lists_.release());
  static_cast<void>(locks_.release());
  static_cast<void>(computations_.release());
  static_cast<void>(procedures_.release());
  static_cast<void>(watches_.release());
}

}  // namespace v0
}  // namespace sheaf
