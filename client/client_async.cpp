// AsyncClient with callbacks and coroutines: the same calls as Client's, detached.

#include <sheaf/async.h>

#include "client/calls/batch_call.h"
#include "client/calls/call.h"
#include "client/calls/command_call.h"
#include "client/calls/node_calls.h"
#include "client/calls/owned_options.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {

using protocol::Verb;
namespace calls = client::calls;
namespace runtime = client::runtime;
using calls::OwnedOptions;

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

void AsyncClient::get_and_set(std::string_view key, std::string_view value,
                              const GetAndSetOptions& options,
                              Callback<Result<GetResult>> done) const {
  calls::call_async<runtime::GetOp>(
      impl_->context(), calls::get_and_set_request(key, value, options, impl_->config()),
      {std::move(done)});
}

void AsyncClient::execute(Command command, const CommandOptions& options,
                          Callback<Result<CommandReply>> done) const {
  calls::execute_async(impl_->context(), std::move(command), options, {std::move(done)});
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
  return {[self = *this, key = std::string(key), own = OwnedOptions(options)](auto done) {
            self.get(key, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<SetResult>> AsyncClient::set(std::string_view key, std::string_view value,
                                              const SetOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value),
           own = OwnedOptions(options)](auto done) {
            self.set(key, value, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<RemoveResult>> AsyncClient::remove(std::string_view key,
                                                    const RemoveOptions& options) const {
  return {[self = *this, key = std::string(key), own = OwnedOptions(options)](auto done) {
            self.remove(key, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<bool>> AsyncClient::append(std::string_view key, std::string_view value,
                                            const EditOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value),
           own = OwnedOptions(options)](auto done) {
            self.append(key, value, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<bool>> AsyncClient::prepend(std::string_view key, std::string_view value,
                                             const EditOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value),
           own = OwnedOptions(options)](auto done) {
            self.prepend(key, value, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<CountResult>> AsyncClient::increment(std::string_view key, std::uint64_t delta,
                                                      const CountOptions& options) const {
  return {[self = *this, key = std::string(key), delta, own = OwnedOptions(options)](auto done) {
            self.increment(key, delta, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<CountResult>> AsyncClient::decrement(std::string_view key, std::uint64_t delta,
                                                      const CountOptions& options) const {
  return {[self = *this, key = std::string(key), delta, own = OwnedOptions(options)](auto done) {
            self.decrement(key, delta, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<bool>> AsyncClient::touch(std::string_view key,
                                           const TouchOptions& options) const {
  return {[self = *this, key = std::string(key), own = OwnedOptions(options)](auto done) {
            self.touch(key, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<GetResult>> AsyncClient::get_and_touch(std::string_view key,
                                                        const TouchOptions& options) const {
  return {[self = *this, key = std::string(key), own = OwnedOptions(options)](auto done) {
            self.get_and_touch(key, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<GetResult>> AsyncClient::get_and_set(std::string_view key, std::string_view value,
                                                      const GetAndSetOptions& options) const {
  return {[self = *this, key = std::string(key), value = std::string(value),
           own = OwnedOptions(options)](auto done) {
            self.get_and_set(key, value, own.get(), std::move(done));
          },
          hook_};
}

void AsyncClient::check_nodes(const NodesOptions& options,
                              Callback<std::vector<NodeReport>> done) const {
  calls::check_nodes_async(impl_->context(), options, std::move(done));
}

void AsyncClient::server_stats(std::string_view group, const NodesOptions& options,
                               Callback<std::vector<NodeText>> done) const {
  calls::ask_for_texts_async(impl_->context(), Verb::stats, group, options, std::move(done));
}

void AsyncClient::server_versions(const NodesOptions& options,
                                  Callback<std::vector<NodeText>> done) const {
  calls::ask_for_texts_async(impl_->context(), Verb::server_version, {}, options, std::move(done));
}

Awaitable<std::vector<NodeReport>> AsyncClient::check_nodes(const NodesOptions& options) const {
  return {[self = *this, own = OwnedOptions(options)](auto done) {
            self.check_nodes(own.get(), std::move(done));
          },
          hook_};
}

Awaitable<std::vector<NodeText>> AsyncClient::server_stats(std::string_view group,
                                                           const NodesOptions& options) const {
  return {[self = *this, name = std::string(group), own = OwnedOptions(options)](auto done) {
            self.server_stats(name, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<std::vector<NodeText>> AsyncClient::server_versions(const NodesOptions& options) const {
  return {[self = *this, own = OwnedOptions(options)](auto done) {
            self.server_versions(own.get(), std::move(done));
          },
          hook_};
}

Awaitable<Result<CommandReply>> AsyncClient::execute(Command command,
                                                     const CommandOptions& options) const {
  return {[self = *this, command = std::move(command), own = OwnedOptions(options)](auto done) {
            self.execute(command, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<AsyncClient::Gets> AsyncClient::get_many(std::span<const std::string_view> keys,
                                                   const BatchOptions& options) const {
  return {[self = *this, texts = std::vector<std::string>(keys.begin(), keys.end()),
           own = OwnedOptions(options)](auto done) {
            const std::vector<std::string_view> views(texts.begin(), texts.end());
            self.get_many(views, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<AsyncClient::Sets> AsyncClient::set_many(std::span<const SetItem> items,
                                                   const BatchSetOptions& options) const {
  std::vector<std::pair<std::string, std::string>> texts;
  texts.reserve(items.size());
  for (const SetItem& item : items) texts.emplace_back(item.key, item.value);
  return {[self = *this, texts = std::move(texts), own = OwnedOptions(options)](auto done) {
            std::vector<SetItem> views;
            views.reserve(texts.size());
            for (const auto& [key, value] : texts) views.push_back({key, value});
            self.set_many(views, own.get(), std::move(done));
          },
          hook_};
}

Awaitable<AsyncClient::Removes> AsyncClient::remove_many(std::span<const std::string_view> keys,
                                                         const BatchOptions& options) const {
  return {[self = *this, texts = std::vector<std::string>(keys.begin(), keys.end()),
           own = OwnedOptions(options)](auto done) {
            const std::vector<std::string_view> views(texts.begin(), texts.end());
            self.remove_many(views, own.get(), std::move(done));
          },
          hook_};
}

}  // namespace v0
}  // namespace sheaf
