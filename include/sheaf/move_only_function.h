#pragma once

/// @file
/// MoveOnlyFunction: a function object that need not be copyable, so that callbacks can own what
/// only moves, such as a std::unique_ptr, a promise or a lock guard.

#include <concepts>
#include <cstddef>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include <sheaf/export.h>

namespace sheaf {
inline namespace v0 {
/// Any function of one signature.
template <class Signature>
class MoveOnlyFunction;

/// Internal: what MoveOnlyFunction is made of.
namespace function_detail {

/// Throws std::bad_function_call.
[[noreturn]] SHEAF_API void called_empty();

/// True if F is a std::function or a MoveOnlyFunction.
template <class F>
inline constexpr bool is_wrapper = false;
/// A std::function is.
template <class Signature>
inline constexpr bool is_wrapper<std::function<Signature>> = true;
/// So is one of ours.
template <class Signature>
inline constexpr bool is_wrapper<MoveOnlyFunction<Signature>> = true;

/// True if an F may be null or empty.
template <class F>
inline constexpr bool may_be_empty =
    std::is_pointer_v<F> || std::is_member_pointer_v<F> || is_wrapper<F>;

/// Room for the object that is called, or for a pointer to it; as large as a std::function.
struct Storage {
  alignas(void*) std::byte bytes[4 * sizeof(void*)];  ///< Uninitialised while it holds nothing.
};

/// True if an F lies in the storage itself. Moves must not throw.
template <class F>
inline constexpr bool fits = sizeof(F) <= sizeof(Storage) && alignof(F) <= alignof(Storage) &&
                             std::is_nothrow_move_constructible_v<F>;

/// The F that a storage holds.
template <class F>
F& held(Storage& storage) noexcept {
  void* const at = storage.bytes;
  if constexpr (fits<F>) {
    return *std::launder(static_cast<F*>(at));
  } else {
    return **std::launder(static_cast<F**>(at));
  }
}

/// Moves an F from one storage into another, which holds nothing, or destroys it: `to` is null.
/// Leaves the first without.
template <class F>
void move_or_destroy(Storage& from, Storage* to) noexcept {
  F& object = held<F>(from);
  if constexpr (fits<F>) {
    if (to != nullptr) ::new (static_cast<void*>(to->bytes)) F(std::move(object));
    object.~F();  // NOLINT(bugprone-use-after-move)
  } else if (to != nullptr) {
    ::new (static_cast<void*>(to->bytes)) F*(&object);
  } else {
    delete &object;
  }
}

/// What is done with an F whose type is not known any more.
template <class R, class... Args>
struct Operations {
  R (*call)(Storage&, Args&&...);                                ///< Calls it.
  void (*move_or_destroy)(Storage& from, Storage* to) noexcept;  ///< As the function of that name.
};

/// Calls the F that a storage holds.
template <class F, class R, class... Args>
R call_held(Storage& storage, Args&&... args) {
  if constexpr (std::is_void_v<R>) {
    std::invoke(held<F>(storage), std::forward<Args>(args)...);
  } else {
    return static_cast<R>(std::invoke(held<F>(storage), std::forward<Args>(args)...));
  }
}

/// Those of an F.
template <class F, class R, class... Args>
inline constexpr Operations<R, Args...> operations{&call_held<F, R, Args...>, &move_or_destroy<F>};
}  // namespace function_detail

/// Holds whatever can be called with `Args` and returns an `R`: a lambda, a function pointer, a
/// std::function, an object with `operator()`. It moves, and so may what it holds; it is not
/// copied. std::move_only_function of C++23 does the same, but programs in C++20 lack it.
///
/// As with std::function, the call is const, and what is held may change itself by it. What takes
/// up to four pointers, and moves without exceptions, is kept without an allocation.
///
/// Thread rule: one thread at a time.
template <class R, class... Args>
class MoveOnlyFunction<R(Args...)> {
 public:
  /// Holds nothing.
  MoveOnlyFunction() noexcept = default;
  /// Holds nothing.
  MoveOnlyFunction(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  /// Holds `function`. A null pointer, an empty std::function and an empty
  /// MoveOnlyFunction of another signature count as nothing. May throw what
  /// the constructor of `function` throws, and std::bad_alloc.
  template <class F, class Held = std::decay_t<F>>
    requires(!std::same_as<Held, MoveOnlyFunction> && std::is_invocable_r_v<R, Held&, Args...> &&
             std::constructible_from<Held, F>)
  MoveOnlyFunction(F&& function) {  // NOLINT(google-explicit-constructor)
    if constexpr (function_detail::may_be_empty<Held>) {
      const Held& same = function;
      if (same == nullptr) return;
    }
    if constexpr (function_detail::fits<Held>) {
      ::new (static_cast<void*>(storage_.bytes)) Held(std::forward<F>(function));
    } else {
      ::new (static_cast<void*>(storage_.bytes)) Held*(new Held(std::forward<F>(function)));
    }
    operations_ = &function_detail::operations<Held, R, Args...>;
  }
  /// Takes what `other` holds, which holds nothing then.
  MoveOnlyFunction(MoveOnlyFunction&& other) noexcept { take(other); }
  /// The same; what this one held is destroyed.
  MoveOnlyFunction& operator=(MoveOnlyFunction&& other) noexcept {
    MoveOnlyFunction taken(std::move(other));  // of itself, too
    reset();
    take(taken);
    return *this;
  }
  /// Holds nothing then.
  MoveOnlyFunction& operator=(std::nullptr_t) noexcept {
    reset();
    return *this;
  }
  ~MoveOnlyFunction() { reset(); }

  /// Calls what is held. Throws std::bad_function_call if that is nothing.
  R operator()(Args... args) const {  // NOLINT: takes what F takes
    if (operations_ == nullptr) function_detail::called_empty();
    return operations_->call(storage_, std::forward<Args>(args)...);
  }
  /// True if it holds something.
  explicit operator bool() const noexcept { return operations_ != nullptr; }
  /// True if it holds nothing.
  friend bool operator==(const MoveOnlyFunction& function, std::nullptr_t) noexcept {
    return function.operations_ == nullptr;
  }

 private:
  void take(MoveOnlyFunction& other) noexcept {
    if (other.operations_ == nullptr) return;
    operations_ = std::exchange(other.operations_, nullptr);
    operations_->move_or_destroy(other.storage_, &storage_);
  }
  void reset() noexcept {
    if (operations_ == nullptr) return;
    std::exchange(operations_, nullptr)->move_or_destroy(storage_, nullptr);
  }

  const function_detail::Operations<R, Args...>* operations_ = nullptr;
  mutable function_detail::Storage storage_;
};

}  // namespace v0
}  // namespace sheaf
