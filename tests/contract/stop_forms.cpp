#include "tests/contract/stop_forms.h"

#include <memory>
#include <utility>

#include <sheaf/async.h>

#include "tests/support/task.h"

namespace sheaf::test {
namespace {

using test::errors_of;

Errors errors_of(const LockResult& result) {
  return {result.failed() ? std::optional(result.error()) : std::nullopt};
}
Errors errors_of(const PushManyResult& result) { return {result.error}; }

template <class Out>
struct Callback {
  std::shared_ptr<std::promise<Errors>> promise = std::make_shared<std::promise<Errors>>();
  std::future<Errors> future = promise->get_future();
  std::function<void(Out)> receiver() {
    return [to = promise](const Out& out) { to->set_value(errors_of(out)); };
  }
};

template <class Out>
std::future<Errors> converted(std::future<Out> future) {
  return std::async(std::launch::async,
                    [f = std::move(future)]() mutable { return errors_of(f.get()); });
}
std::vector<std::string> texts(int count) {
  std::vector<std::string> made;
  for (int i = 0; i < count; ++i) made.push_back("key " + std::to_string(i));
  return made;
}

const std::vector<std::string> names = texts(200);
const std::vector<std::string_view> keys(names.begin(), names.end());
const std::vector<SetItem> items = [] {
  std::vector<SetItem> made;
  for (const std::string& name : names) made.push_back({name, name});
  return made;
}();

Task<Errors> await_get(AsyncClient client, std::stop_token stop) {
  co_return errors_of(co_await client.get("key", {.timeout = patience, .stop = &stop}));
}
Task<Errors> await_set(AsyncClient client, std::stop_token stop) {
  const SetOptions options{.timeout = patience, .stop = &stop};
  co_return errors_of(co_await client.set("key", "value", options));
}
Task<Errors> await_get_many(AsyncClient client, std::stop_token stop) {
  co_return errors_of(co_await client.get_many(keys, {.timeout = patience, .stop = &stop}));
}
Task<Errors> await_set_many(AsyncClient client, std::stop_token stop) {
  const BatchSetOptions options{.timeout = patience, .stop = &stop};
  co_return errors_of(co_await client.set_many(items, options));
}

std::vector<StopForm> key_forms() {
  return {
      {"get",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.get("key", {.timeout = patience, .stop = &stop}));
         });
       }},
      {"get, callback",
       [](Client& client, std::stop_token stop) {
         Callback<Result<GetResult>> done;
         client.async().get("key", {.timeout = patience, .stop = &stop}).then(done.receiver());
         return std::move(done.future);
       }},
      {"get, future",
       [](Client& client, std::stop_token stop) {
         return converted(client.async().get("key", {.timeout = patience, .stop = &stop}).future());
       }},
      {"get, co_await",
       [](Client& client, std::stop_token stop) {
         return await_get(client.async(), std::move(stop)).future();
       }},
      {"set",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.set("key", "value", {.timeout = patience, .stop = &stop}));
         });
       }},
      {"set, callback",
       [](Client& client, std::stop_token stop) {
         Callback<Result<SetResult>> done;
         const SetOptions options{.timeout = patience, .stop = &stop};
         client.async().set("key", "value", options).then(done.receiver());
         return std::move(done.future);
       }},
      {"set, co_await",
       [](Client& client, std::stop_token stop) {
         return await_set(client.async(), std::move(stop)).future();
       }},
      {"remove",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.remove("key", {.timeout = patience, .stop = &stop}));
         });
       }},
  };
}

std::vector<StopForm> batch_forms() {
  return {
      {"get_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.get_many(keys, {.timeout = patience, .stop = &stop}));
         });
       }},
      {"get_many, callback",
       [](Client& client, std::stop_token stop) {
         Callback<AsyncClient::Gets> done;
         client.async().get_many(keys, {.timeout = patience, .stop = &stop}).then(done.receiver());
         return std::move(done.future);
       }},
      {"get_many, co_await",
       [](Client& client, std::stop_token stop) {
         return await_get_many(client.async(), std::move(stop)).future();
       }},
      {"set_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.set_many(items, {.timeout = patience, .stop = &stop}));
         });
       }},
      {"set_many, callback",
       [](Client& client, std::stop_token stop) {
         Callback<AsyncClient::Sets> done;
         client.async().set_many(items, {.timeout = patience, .stop = &stop}).then(done.receiver());
         return std::move(done.future);
       }},
      {"set_many, co_await",
       [](Client& client, std::stop_token stop) {
         return await_set_many(client.async(), std::move(stop)).future();
       }},
      {"remove_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.remove_many(keys, {.timeout = patience, .stop = &stop}));
         });
       }},
  };
}

Task<Errors> await_lock(AsyncLocker locker, std::stop_token stop) {
  co_return errors_of(co_await locker.lock("lock", {.wait = patience, .stop = &stop}));
}
Task<Errors> await_push(AsyncList list, std::stop_token stop) {
  co_return errors_of(co_await list.push("item", {.timeout = patience, .stop = &stop}));
}
Task<Errors> await_range(AsyncList list, std::stop_token stop) {
  co_return errors_of(co_await list.range(0, -1, {.timeout = patience, .stop = &stop}));
}

}  // namespace

std::vector<StopForm> request_forms() {
  std::vector<StopForm> all = key_forms();
  for (StopForm& form : batch_forms()) all.push_back(std::move(form));
  return all;
}

std::vector<StopForm> lock_forms() {
  return {
      {"lock",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([locker = Locker(client), stop]() mutable {
           return errors_of(locker.lock("lock", {.wait = patience, .stop = &stop}));
         });
       }},
      {"lock, callback",
       [](Client& client, std::stop_token stop) {
         auto promise = std::make_shared<std::promise<Errors>>();
         Locker(client)
             .async()
             .lock("lock", {.wait = patience, .stop = &stop})
             .then([promise](const LockResult& result) { promise->set_value(errors_of(result)); });
         return promise->get_future();
       }},
      {"lock, co_await",
       [](Client& client, std::stop_token stop) {
         return await_lock(Locker(client).async(), std::move(stop)).future();
       }},
  };
}

// Calls of several requests; the outcome describes the whole call.
std::vector<StopForm> other_forms() {
  std::vector<StopForm> all = {
      {"push",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([list = List(client, "list"), stop]() mutable {
           return errors_of(list.push("item", {.timeout = patience, .stop = &stop}));
         });
       }},
      {"push, callback",
       [](Client& client, std::stop_token stop) {
         Callback<Result<std::uint64_t>> done;
         List(client, "list")
             .async()
             .push("item", {.timeout = patience, .stop = &stop})
             .then(done.receiver());
         return std::move(done.future);
       }},
      {"push, co_await",
       [](Client& client, std::stop_token stop) {
         return await_push(List(client, "list").async(), std::move(stop)).future();
       }},
      {"push_many",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([list = List(client, "list"), stop]() mutable {
           return errors_of(list.push_many(keys, {.timeout = patience, .stop = &stop}));
         });
       }},
      {"drop_holes",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([list = List(client, "list"), stop]() mutable {
           return errors_of(list.drop_holes({.timeout = patience, .stop = &stop}));
         });
       }},
      {"range, co_await",
       [](Client& client, std::stop_token stop) {
         return await_range(List(client, "list").async(), std::move(stop)).future();
       }},
      {"get_or_compute",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           return errors_of(client.get_or_compute("absent", {.timeout = patience, .stop = &stop},
                                                  [] { return std::string("made"); }));
         });
       }},
      {"check_nodes",
       [](Client& client, std::stop_token stop) {
         return on_a_thread([&client, stop] {
           Errors errors;
           for (const NodeReport& report : client.check_nodes({.timeout = patience, .stop = &stop}))
             errors.push_back(report.error);
           return errors;
         });
       }},
  };
  for (StopForm& form : lock_forms()) all.push_back(std::move(form));
  return all;
}

std::vector<StopForm> all_forms() {
  std::vector<StopForm> all = request_forms();
  for (StopForm& form : other_forms()) all.push_back(std::move(form));
  return all;
}

}  // namespace sheaf::test
