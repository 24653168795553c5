#pragma once

/// @file
/// Internal: what g++ before 14 destroys twice.

#include <functional>
#include <type_traits>

#include <sheaf/move_only_function.h>

/// @def SHEAF_DESTROYS_TWICE
/// Internal: 1 for g++ before 14, else 0.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define SHEAF_DESTROYS_TWICE 1
#else
#define SHEAF_DESTROYS_TWICE 0
#endif

namespace sheaf {
/// Internal: guards against g++ before 14. When a temporary stands in a `co_await` expression and
/// no constructor makes it (an aggregate, a lambda), these compilers destroy it twice, and what it
/// owns is freed twice. So calls that are to be awaited refuse such a temporary. Name it before:
///
///     const sheaf::SetOptions options{.ttl = 1min};
///     sheaf::Client::Compute compute = [key] { return row_of(key); };
namespace awaited_detail {

/// Whether this compiler destroys them twice.
inline constexpr bool destroys_twice = SHEAF_DESTROYS_TWICE;

/// Whether F is made by a constructor.
template <class F>
inline constexpr bool is_wrapper = false;
/// A std::function is.
template <class Signature>
inline constexpr bool is_wrapper<std::function<Signature>> = true;
/// One of ours is.
template <class Signature>
inline constexpr bool is_wrapper<MoveOnlyFunction<Signature>> = true;

/// Of a parameter `F&&`: a function object that may be a temporary lambda that owns something.
template <class F>
concept OwningTemporary = destroys_twice && std::is_class_v<F> &&
                          !std::is_trivially_destructible_v<F> && !is_wrapper<std::remove_cv_t<F>>;

}  // namespace awaited_detail
}  // namespace sheaf
