#pragma once

// Detached: a call that no caller waits for. A Call holds one: it is made with copies of the call's
// arguments, starts when the Call is consumed, and owns itself from then until it has handed over
// its outcome.
//
//   prepare<Out, Work>(origin, stop, given) -> Call<Out>
//
// `given` owns the arguments, which live as long as the Work does. It is called once, at the start,
// as `given(context, stop, way)`. It admits the call and uses `way` as client/calls/ways.h says, to
// run a Work or to give an outcome that is known already.
//
// Thread rule: begin() on any thread, once; then under the baton.

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <sheaf/call.h>

#include "client/calls/ways.h"
#include "client/calls/work.h"
#include "client/runtime/context.h"

namespace sheaf::client::calls {

// The client and the hook of a call.
struct Origin {
  std::shared_ptr<void> keep;  // the client, until the call has started
  runtime::Context& context;
  const ResumeHook& hook;
};

template <class Work>
concept Idles = requires { requires Work::idles; };

template <class Out, class Work, class Given>
class Detached final : public call_detail::Prepared<Out>,
                       private socket::Lane::Task,
                       private WorkEnd,
                       private StopTarget {
 public:
  using Done = typename call_detail::Prepared<Out>::Done;

  template <class... Args>
  Detached(Origin& origin, Stop stop, Args&&... args)
      : keep_(std::move(origin.keep)),
        context_(origin.context),
        given_(std::forward<Args>(args)...) {
    if (stop != nullptr) this->token = *stop;
  }

  void begin(Done done, call_detail::Hears hears) override {
    std::unique_ptr<Detached> self(this);
    const auto keep = std::move(keep_);             // not released under the baton
    const runtime::Context::Entry entry(context_);  // the client may close meanwhile
    done_ = std::move(done);
    hears_ = hears;
    given_(context_, &this->token, Way(self));
  }

 private:
  using Convert = Out (*)(runtime::Context&, typename Work::Out);

  // See client/calls/ways.h.
  class Way {
   public:
    using Return = void;
    static constexpr Form form = Form::asynchronous;

    explicit Way(std::unique_ptr<Detached>& self) : self_(self) {}
    void give(runtime::Context&, Out out) { self_->hand_over(std::move(out)); }
    void refuse(runtime::Context&, Error error) {
      self_->hand_over(refused<Out>(std::move(error)));
    }
    template <class W, class Change, class... Args>
    void run(runtime::Context&, Stop, Change, Args&&... args) {
      static_assert(std::is_same_v<W, Work>);
      static_assert(std::is_empty_v<Change>);
      if constexpr (!std::is_same_v<Change, AsItIs>) {
        self_->convert_ = [](runtime::Context& context, typename Work::Out out) -> Out {
          return convert(Change(), context, std::move(out));
        };
        self_->off_baton_ = MayBlock<Change>;
      }
      self_->work_.emplace(static_cast<WorkEnd&>(*self_), std::forward<Args>(args)...);
      self_.release()->post();
    }

   private:
    std::unique_ptr<Detached>& self_;
  };

  void post() {
    if constexpr (requires { work_->prepare(); }) work_->prepare();
    if constexpr (Idles<Work>) {
      context_.lane().post(*this);
    } else {
      context_.lane().post_async(*this);
    }
  }
  void run(Now now) override {
    if (this->token.stop_possible()) link_.emplace(context_.lane(), target(), this->token);
    work_->start(now);
  }
  StopTarget& target() noexcept { return *this; }
  void on_stop(Now now) override { cancel(*work_, now); }
  void ended() override {
    const std::unique_ptr<Detached> self(this);
    link_.reset();
    if constexpr (!Idles<Work>) context_.lane().async_end();
    auto out = work_->take();
    if constexpr (std::is_same_v<Out, typename Work::Out>) {
      if (convert_ == nullptr) return hand_over(std::move(out));
    }
    if (hears_ == call_detail::Hears::promise && !off_baton_) {
      return done_(convert_(context_, std::move(out)));
    }
    context_.dispatcher().deliver(
        [done = std::move(done_), out = std::move(out), convert = convert_,
         &context = context_]() mutable { done(convert(context, std::move(out))); });
  }
  void hand_over(Out&& out) {
    if (hears_ == call_detail::Hears::promise) return done_(std::move(out));
    context_.dispatcher().deliver(
        [done = std::move(done_), out = std::move(out)]() mutable { done(std::move(out)); });
  }

  std::shared_ptr<void> keep_;
  runtime::Context& context_;
  Given given_;
  Done done_;
  call_detail::Hears hears_ = call_detail::Hears::callback;
  bool off_baton_ = false;     // the conversion needs the dispatcher
  Convert convert_ = nullptr;  // null: the Work's outcome is the call's
  std::optional<Work> work_;
  std::optional<StopLink> link_;
};

// Makes the Given in place from `args`.
template <class Out, class Work, class Given, class... Args>
Call<Out> prepare_in_place(Origin origin, Stop stop, Args&&... args) {
  return call_detail::Access::make<Out>(
      std::make_unique<Detached<Out, Work, Given>>(origin, stop, std::forward<Args>(args)...),
      origin.hook);
}

template <class Out, class Work, class Given>
Call<Out> prepare(Origin origin, Stop stop, Given given) {
  return prepare_in_place<Out, Work, Given>(std::move(origin), stop, std::move(given));
}

// A call whose outcome is known before it starts; it needs no client.
template <class Out>
class Settled final : public call_detail::Prepared<Out> {
 public:
  explicit Settled(Out out) : out_(std::move(out)) {}
  void begin(typename call_detail::Prepared<Out>::Done done, call_detail::Hears) override {
    const std::unique_ptr<Settled> self(this);
    done(std::move(out_));
  }

 private:
  Out out_;
};

template <class Out>
Call<Out> settled(Out out, const ResumeHook& hook) {
  return call_detail::Access::make<Out>(std::make_unique<Settled<Out>>(std::move(out)), hook);
}

}  // namespace sheaf::client::calls
