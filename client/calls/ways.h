#pragma once

// The two ways in which a call hands over what it comes to. A call that has a blocking and an
// asynchronous form is written once, as a template over its way:
//
//   Returned<Out>    the caller waits and gets it as the return value
//   Delivered<Out>   a callback gets it
//
// A Way has
//   using Return                         what the call returns
//   static constexpr Form form           for admit() and refusals
//   Return give(context, out)            it is there already
//   Return refuse(context, error)        the call was not started
//   Return run<Work>(context, stop, convert, args...)   carries out Work(end, args...), which the
//                                        token may end; convert makes an Out of what it comes to
// Of the last three a call uses one, once.
//
// Thread rule: one thread.

#include <type_traits>
#include <utility>

#include <sheaf/move_only_function.h>

#include "client/calls/admit.h"
#include "client/calls/work.h"

namespace sheaf::client::calls {

// What a call comes to that was not started.
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

template <class Out>
class Returned {
 public:
  using Return = Out;
  static constexpr Form form = Form::blocking;

  Out give(runtime::Context&, Out out) { return out; }
  Out refuse(runtime::Context&, Error error) { return refused<Out>(std::move(error)); }

  template <class Work, class Convert, class... Args>
  Out run(runtime::Context& context, Stop stop, Convert convert, Args&&... args) {
    return convert(Blocking<Work>(context.lane(), {}, std::forward<Args>(args)...).wait(stop));
  }
};

template <class Out>
class Delivered {
 public:
  using Return = void;
  static constexpr Form form = Form::asynchronous;

  explicit Delivered(MoveOnlyFunction<void(Out)> done) : done_(std::move(done)) {}

  void give(runtime::Context& context, Out out) {
    Receiver<Out>{std::move(done_)}.deliver(context.dispatcher(), std::move(out));
  }
  void refuse(runtime::Context& context, Error error) {
    give(context, refused<Out>(std::move(error)));
  }

  template <class Work, class Convert, class... Args>
  void run(runtime::Context& context, Stop stop, Convert convert, Args&&... args) {
    Receiver<typename Work::Out> receiver{
        [done = std::move(done_), convert](typename Work::Out out) {
          done(convert(std::move(out)));
        }};
    Detached<Work>::begin(context, std::move(receiver), stop, std::forward<Args>(args)...);
  }

 private:
  MoveOnlyFunction<void(Out)> done_;
};

// A Work that comes to what the call comes to.
struct AsItIs {
  template <class Out>
  Out operator()(Out out) const {
    return out;
  }
};

}  // namespace sheaf::client::calls
