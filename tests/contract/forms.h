#pragma once

// The ways in which a Call is consumed.

#include <array>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#ifdef SHEAF_HAS_ASIO
#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>

#include <sheaf/asio.h>
#endif
#include <sheaf/async.h>

#include "tests/contract/endpoints.h"
#include "tests/support/task.h"

namespace sheaf::test {

enum class Form : std::uint8_t { callback, coroutine, future, asio };

inline constexpr std::array all_ways{
    Form::callback,
    Form::coroutine,
    Form::future,
#ifdef SHEAF_HAS_ASIO
    Form::asio,
#endif
};

constexpr const char* to_string(Form form) {
  constexpr std::array names{"callback", "coroutine", "future", "asio"};
  return names[static_cast<std::size_t>(form)];
}

template <class Out>
Task<Out> awaited(Call<Out> call) {
  co_return co_await call;
}

// Begins a call with a callback that cannot be copied.
template <class Out>
std::future<Out> begin_with_callback(Call<Out> call) {
  std::promise<Out> promise;
  auto future = promise.get_future();
  std::move(call).then([p = std::move(promise)](Out out) mutable {
    p.set_value(std::move(out));  // throws the second time
  });
  return future;
}

// Runs an io_context, which must not run out of work before the call has ended. It outlives every
// client: a client's thread may still be inside asio::post when run() has returned.
template <class Out>
Out end_with_asio([[maybe_unused]] Call<Out> call) {
  std::optional<Out> got;
#ifdef SHEAF_HAS_ASIO
  static ::asio::io_context io;
  io.restart();
  std::move(call)(::asio::bind_executor(io, [&](Out out) { got.emplace(std::move(out)); }));
  io.run();
#endif
  return std::move(got.value());
}

template <class Out>
Out outcome_of(Form form, Call<Out> call) {
  switch (form) {
    case Form::callback:
      return begin_with_callback(std::move(call)).get();
    case Form::coroutine:
      return awaited(std::move(call)).get();
    case Form::future:
      return std::move(call).future().get();
    case Form::asio:
      break;
  }
  return end_with_asio(std::move(call));
}

// Callbacks and coroutines on every kind of endpoint; every_call_test.cpp has the other ways.
using FormParam = std::tuple<EndpointFactory, Form>;

inline auto every_form() {
  return testing::Combine(testing::ValuesIn(all_factories()),
                          testing::Values(Form::callback, Form::coroutine));
}
inline std::string name_of_form(const testing::TestParamInfo<FormParam>& info) {
  return std::get<EndpointFactory>(info.param).name + "_" + to_string(std::get<Form>(info.param));
}

class InEveryForm : public testing::TestWithParam<FormParam> {
 protected:
  InEveryForm()
      : endpoint(std::get<EndpointFactory>(GetParam()).make()),
        client(open(endpoint->uri())),
        form(std::get<Form>(GetParam())) {}

  std::unique_ptr<Endpoint> endpoint;
  std::optional<Client> client;
  const Form form;
};

}  // namespace sheaf::test
