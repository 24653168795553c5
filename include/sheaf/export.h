#pragma once

/// @file
/// Symbol visibility: everything is hidden except what carries SHEAF_API. Also checks what a
/// program needs to include any of these headers.

#if !defined(__linux__)
#error "sheaf runs on Linux only"
#endif
#if __cplusplus < 202002L
#error "sheaf needs C++20 or later: compile with -std=c++20"
#include <nothing: what follows would be errors of the same cause>
#endif

/// Marks a class or function that users of the shared library may call.
#define SHEAF_API __attribute__((visibility("default")))
