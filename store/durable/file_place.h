#pragma once

// The place of a store's file: who owns it, who may write it, and how it comes to be.
//
// Thread rule: free functions.

#include <expected>
#include <string>

namespace sheaf::store {

// Whether there is a file at `path` that a store may use: a regular one of this user, which nobody
// else may write, and not empty. False: there is none. The error is one sentence.
std::expected<bool, std::string> check_file(const std::string& path);

// Makes the file at `path` so that it is there as a whole or not at all, for this user alone.
// `fill` gets the path of an empty file. No error if somebody else was faster.
std::expected<void, std::string> create_file(
    const std::string& path, std::expected<void, std::string> (*fill)(const std::string& path));

// Names this start of the machine; empty where the system does not tell.
std::string boot_name();

}  // namespace sheaf::store
