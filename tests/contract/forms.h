#pragma once

// The asynchronous forms of a call: a contract test runs each call in both.

#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <sheaf/async.h>

#include "tests/contract/endpoints.h"
#include "tests/support/task.h"

namespace sheaf::test {

enum class Form : bool { callback, coroutine };

template <class Out>
Task<Out> awaited(Awaitable<Out> call) {
  co_return co_await call;
}

// `call` is given a callback, which cannot be copied. What the callback gets.
template <class Out, class Call>
std::future<Out> begin_with_callback(const Call& call) {
  std::promise<Out> promise;
  auto future = promise.get_future();
  call([p = std::move(promise)](Out out) mutable {
    p.set_value(std::move(out));  // throws the second time
  });
  return future;
}

// What a call comes to. `call` is given such a callback, or nothing:
// `outcome_of<Gets>(form, [&](auto... done) { return async.get_many(keys, {}, std::move(done)...);
// })`
template <class Out, class Call>
Out outcome_of(Form form, const Call& call) {
  if (form == Form::coroutine) return awaited(call()).get();
  return begin_with_callback<Out>(call).get();
}

// Both forms on every kind of endpoint.
using FormParam = std::tuple<EndpointFactory, Form>;

inline auto every_form() {
  return testing::Combine(testing::ValuesIn(all_factories()),
                          testing::Values(Form::callback, Form::coroutine));
}
inline std::string name_of_form(const testing::TestParamInfo<FormParam>& info) {
  const bool callback = std::get<Form>(info.param) == Form::callback;
  return std::get<EndpointFactory>(info.param).name + (callback ? "_callback" : "_coroutine");
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
