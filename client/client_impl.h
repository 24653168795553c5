#pragma once

// The implementation of Client: its context and its features, put together here. Only
// client/client*.cpp include it; calls and features know the context, and their own service.
//
// Ownership, and so the order of destruction: context < watches < procedures < the other features.
// The Client closes it; handles that outlive the Client keep the rest alive.
//
// Thread rule: any thread, except where the parts restrict it.

#include <memory>

#include <sheaf/client.h>

#include "client/calls/procedure_host.h"
#include "client/compute/compute_service.h"
#include "client/list/list_service.h"
#include "client/lock/lock_service.h"
#include "client/runtime/context.h"
#include "client/watch/watch_service.h"

namespace sheaf {
inline namespace v0 {

class Client::Impl {
 public:
  // May throw std::bad_alloc and std::system_error; Client::open turns them into errors.
  static Result<std::unique_ptr<Impl>> make(ClusterConfig config, ClientOptions options);
  // An Impl closed before any call: every call ends with `why`.
  static std::shared_ptr<Impl> make_closed(Error why);
  // Replaces the Impl of a Client that was moved from.
  static const std::shared_ptr<Impl>& moved_from();
  ~Impl();
  // Ends everything in flight, all threads and all connections. Called once, and last except for
  // refusal(). In a forked child it only closes the descriptors.
  void close() noexcept;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  client::runtime::Context& context() noexcept { return context_; }
  const ClusterConfig& config() const noexcept { return context_.config(); }
  // The measurements of connections and features. Blocks.
  Metrics metrics();

  client::compute::ComputeService& computations() noexcept { return *computations_; }
  // Shared with handles, which keep the whole Impl alive.
  static std::shared_ptr<client::lock::LockService> locks(const std::shared_ptr<Impl>& impl) {
    return {impl, impl->locks_.get()};
  }
  static std::shared_ptr<client::list::ListService> lists(const std::shared_ptr<Impl>& impl) {
    return {impl, impl->lists_.get()};
  }
  static std::shared_ptr<client::watch::WatchService> watches(const std::shared_ptr<Impl>& impl) {
    return {impl, impl->watches_.get()};
  }

 private:
  Impl(ClusterConfig config, ClientOptions options);
  Result<void> open();
  void shut_down() noexcept;
  void abandon() noexcept;

  client::runtime::Context context_;
  bool closed_ = false;
  std::unique_ptr<client::watch::WatchService> watches_;
  std::unique_ptr<client::calls::ProcedureHost> procedures_;
  std::unique_ptr<client::compute::ComputeService> computations_;
  std::unique_ptr<client::lock::LockService> locks_;
  std::unique_ptr<client::list::ListService> lists_;
};

}  // namespace v0

// What handles and tests need from a client beyond its public interface.
struct client::Internals {
  // Never null.
  static const std::shared_ptr<Client::Impl>& impl(const Client& client) {
    return client.handle_.impl != nullptr ? client.handle_.impl : Client::Impl::moved_from();
  }
  // Lives as long as the client or one of its handles.
  static runtime::Context& context(const Client& client) { return impl(client)->context(); }
};

}  // namespace sheaf
