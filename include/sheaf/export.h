#pragma once

/// @file
/// Symbol visibility: everything is hidden except what carries SHEAF_API.

#if defined(_WIN32)
#error "sheaf supports POSIX systems only"
#endif

/// Marks a class or function that users of the shared library may call.
#define SHEAF_API __attribute__((visibility("default")))
