#pragma once

// What a function of the program threw, for the text of an error.
//
// Thread rule: any thread.

#include <string>

namespace sheaf {

// The type of the exception that is being handled. Not its text, which may hold anything.
std::string exception_name();

}  // namespace sheaf
