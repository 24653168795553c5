#pragma once

// Names the exception that a function of the program threw, for an error's text.
//
// Thread rule: any thread.

#include <string>

namespace sheaf {

// The type of the exception that is being handled. Its text is left out because it may hold
// anything.
std::string exception_name();

}  // namespace sheaf
