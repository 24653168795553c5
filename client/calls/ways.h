#pragma once

// The two ways in which a call hands over its outcome. A call that has a blocking and an
// asynchronous form is written once, as a template over its way:
//
//   Returned<Out>            returns it to the caller, which waits
//   Detached::Way            gives it to the callback or the promise of a Call (detached.h)
//
// A Way has
//   using Return                         what the call returns
//   static constexpr Form form           for admit() and refusals
//   Return give(context, out)            the outcome is known already
//   Return refuse(context, error)        the call was not started
//   Return run<Work>(context, stop, convert, args...)   runs Work(end, args...), which the token
//                                        may end; convert makes an Out of its outcome: a function
//                                        object without state, which takes the outcome or the
//                                        context and the outcome
// A call uses one of the last three, once.
//
// Thread rule: one thread.

#include <type_traits>
#include <utility>

#include "client/calls/admit.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {

// The outcome of a call that was not started.
template <class Out>
Out refused(Error error) {
  if constexpr (std::is_constructible_v<Out, Failure>) {
    return Failure(std::move(error));
  } else {
    Out out;
    out.error = std::move(error);
    return out;
  }
}

// A conversion that may block, so it must not run under the baton.
template <class Convert>
concept MayBlock = requires { requires Convert::blocks; };

template <class Convert, class From>
auto convert(Convert change, runtime::Context& context, From from) {
  if constexpr (std::is_invocable_v<Convert, runtime::Context&, From>) {
    return change(context, std::move(from));
  } else {
    return change(std::move(from));
  }
}

template <class Out>
class Returned {
 public:
  using Return = Out;
  static constexpr Form form = Form::blocking;

  Out give(runtime::Context&, Out out) { return out; }
  Out refuse(runtime::Context&, Error error) { return refused<Out>(std::move(error)); }

  template <class Work, class Convert, class... Args>
  Out run(runtime::Context& context, Stop stop, Convert convert, Args&&... args) {
    return calls::convert(
        convert, context,
        Blocking<Work>(context.lane(), {}, std::forward<Args>(args)...).wait(stop));
  }
};

// Makes the Work's outcome the call's.
struct AsItIs {
  template <class Out>
  Out operator()(Out out) const {
    return out;
  }
};

}  // namespace sheaf::client::calls
