// AsyncClient with callbacks and coroutines: the same calls as Client's, detached.

#include <sheaf/async.h>

#include "client/calls/batch_call.h"
#include "client/calls/call.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {

using protocol::Verb;
namespace calls = client::calls;
namespace runtime = client::runtime;

// ---- callbacks

void AsyncClient::get(std::string_view key, const GetOptions& options,
                      Callback<Result<GetResult>> done) const {
  calls::call_async<runtime::GetOp>(impl_->context(), calls::get_request(key, options),
                                    {std::move(done)});
}

void AsyncClient::set(std::string_view key, std::string_view value, const SetOptions& options,
                      Callback<Result<SetResult>> done) const {
  calls::call_async<runtime::SetOp>(impl_->context(),
                                    calls::set_request(key, value, options, impl_->config()),
                                    {std::move(done)});
}

void AsyncClient::remove(std::string_view key, const RemoveOptions& options,
                         Callback<Result<RemoveResult>> done) const {
  calls::call_async<runtime::RemoveOp>(
      impl_->context(), calls::remove_request(key, options, impl_->config()), {std::move(done)});
}

void AsyncClient::append(std::string_view key, std::string_view value, const EditOptions& options,
                         Callback<Result<bool>> done) const {
  calls::call_async<runtime::DoneOp>(
      impl_->context(), calls::edit_request(Verb::append, key, value, options, impl_->config()),
      {std::move(done)});
}

void AsyncClient::prepend(std::string_view key, std::string_view value, const EditOptions& options,
                          Callback<Result<bool>> done) const {
  calls::call_async<runtime::DoneOp>(
      impl_->context(), calls::edit_request(Verb::prepend, key, value, options, impl_->config()),
      {std::move(done)});
}

void AsyncClient::increment(std::string_view key, std::uint64_t delta, const CountOptions& options,
                            Callback<Result<CountResult>> done) const {
  calls::call_async<runtime::CountOp>(
      impl_->context(), calls::count_request(Verb::increment, key, delta, options, impl_->config()),
      {std::move(done)});
}

void AsyncClient::decrement(std::string_view key, std::uint64_t delta, const CountOptions& options,
                            Callback<Result<CountResult>> done) const {
  calls::call_async<runtime::CountOp>(
      impl_->context(), calls::count_request(Verb::decrement, key, delta, options, impl_->config()),
      {std::move(done)});
}

void AsyncClient::touch(std::string_view key, const TouchOptions& options,
                        Callback<Result<bool>> done) const {
  calls::call_async<runtime::DoneOp>(
      impl_->context(), calls::touch_request(Verb::touch, key, options, impl_->config()),
      {std::move(done)});
}

void AsyncClient::get_and_touch(std::string_view key, const TouchOptions& options,
                                Callback<Result<GetResult>> done) const {
  calls::call_async<runtime::GetOp>(
      impl_->context(), calls::touch_request(Verb::get_and_touch, key, options, impl_->config()),
      {std::move(done)});
}

void AsyncClient::get_many(std::span<const std::string_view> keys, const BatchOptions& options,
                           Callback<Gets> done) const {
  calls::call_batch_async<runtime::GetOp>(
      impl_->context(), calls::keys_request(Verb::get, keys, options), {std::move(done)});
}

void AsyncClient::set_many(std::span<const SetItem> items, const BatchSetOptions& options,
                           Callback<Sets> done) const {
  calls::call_batch_async<runtime::SetOp>(
      impl_->context(), calls::items_request(items, options, impl_->config()), {std::move(done)});
}

void AsyncClient::remove_many(std::span<const std::string_view> keys, const BatchOptions& options,
                              Callback<Removes> done) const {
  calls::call_batch_async<runtime::RemoveOp>(
      impl_->context(), calls::keys_request(Verb::remove, keys, options), {std::move(done)});
}

// ---- coroutines: an awaitable owns what it was given

Awaitable<Result<SetResult>> AsyncClient::set(std::string_view key, std::string_view value) const {
  const SetOptions options;
  return set(key, value, options);
}

Awaitable<Result<RemoveResult>> AsyncClient::remove(std::string_view key) const {
  const RemoveOptions options;
  return remove(key, options);
}

Awaitable<Result<GetResult>> AsyncClient::get(std::string_view key,
                                              const GetOptions& options) const {
  return {[self = *this, key = std::string(key), options](auto done) {
            self.get(key, options, std::move(done));
          },
          hook_};
}

Awaitable<Result<SetResult>> AsyncClient::set(std::string_view key, std::string_view value,
                                              const SetOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value), options](auto done) {
            self.set(key, value, options, std::move(done));
          },
          hook_};
}

Awaitable<Result<RemoveResult>> AsyncClient::remove(std::string_view key,
                                                    const RemoveOptions& options) const {
  std::optional<std::string> if_value;
  if (options.if_value) if_value.emplace(*options.if_value);
  return {[self = *this, key = std::string(key), options, if_value](auto done) {
            RemoveOptions own = options;
            if (if_value) own.if_value = *if_value;
            self.remove(key, own, std::move(done));
          },
          hook_};
}

Awaitable<Result<bool>> AsyncClient::append(std::string_view key, std::string_view value,
                                            const EditOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value), options](auto done) {
            self.append(key, value, options, std::move(done));
          },
          hook_};
}

Awaitable<Result<bool>> AsyncClient::prepend(std::string_view key, std::string_view value,
                                             const EditOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value), options](auto done) {
            self.prepend(key, value, options, std::move(done));
          },
          hook_};
}

Awaitable<Result<CountResult>> AsyncClient::increment(std::string_view key, std::uint64_t delta,
                                                      const CountOptions& options) const {
  return {[self = *this, key = std::string(key), delta, options](auto done) {
            self.increment(key, delta, options, std::move(done));
          },
          hook_};
}

Awaitable<Result<CountResult>> AsyncClient::decrement(std::string_view key, std::uint64_t delta,
                                                      const CountOptions& options) const {
  return {[self = *this, key = std::string(key), delta, options](auto done) {
            self.decrement(key, delta, options, std::move(done));
          },
          hook_};
}

Awaitable<Result<bool>> AsyncClient::touch(std::string_view key,
                                           const TouchOptions& options) const {
  return {[self = *this, key = std::string(key), options](auto done) {
            self.touch(key, options, std::move(done));
          },
          hook_};
}

Awaitable<Result<GetResult>> AsyncClient::get_and_touch(std::string_view key,
                                                        const TouchOptions& options) const {
  return {[self = *this, key = std::string(key), options](auto done) {
            self.get_and_touch(key, options, std::move(done));
          },
          hook_};
}

Awaitable<AsyncClient::Gets> AsyncClient::get_many(std::span<const std::string_view> keys,
                                                   const BatchOptions& options) const {
  return {
      [self = *this, own = std::vector<std::string>(keys.begin(), keys.end()), options](auto done) {
        const std::vector<std::string_view> views(own.begin(), own.end());
        self.get_many(views, options, std::move(done));
      },
      hook_};
}

Awaitable<AsyncClient::Sets> AsyncClient::set_many(std::span<const SetItem> items,
                                                   const BatchSetOptions& options) const {
  std::vector<std::pair<std::string, std::string>> own;
  own.reserve(items.size());
  for (const SetItem& item : items) own.emplace_back(item.key, item.value);
  return {[self = *this, own = std::move(own), options](auto done) {
            std::vector<SetItem> views;
            views.reserve(own.size());
            for (const auto& [key, value] : own) views.push_back({key, value});
            self.set_many(views, options, std::move(done));
          },
          hook_};
}

Awaitable<AsyncClient::Removes> AsyncClient::remove_many(std::span<const std::string_view> keys,
                                                         const BatchOptions& options) const {
  return {
      [self = *this, own = std::vector<std::string>(keys.begin(), keys.end()), options](auto done) {
        const std::vector<std::string_view> views(own.begin(), own.end());
        self.remove_many(views, options, std::move(done));
      },
      hook_};
}

}  // namespace v0
}  // namespace sheaf
