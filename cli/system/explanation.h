#pragma once

// What Error::why() says beyond an error's sentence: cause, history, effect, and what to do. It is
// for people, so it is printed on a terminal only; scripts get the sentence alone.
//
// Thread rule: one thread.

#include <string>

#include <sheaf/result.h>

namespace sheaf::cli {

// Empty if the sentence says everything: what the caller did wrong, or what the servers lack.
std::string explanation(const Error& error);

// Prints the explanation below the error's sentence, which has just been printed, if standard error
// is a terminal. Errors of one outcome and reason are explained once for each process, because many
// keys and nodes may fail alike.
void explain(const Error& error);

}  // namespace sheaf::cli
