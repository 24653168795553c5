#pragma once

// The place of a store's file: who owns it, who may write it, and how it is created.
//
// Thread rule: free functions.

#include <expected>
#include <string>

namespace sheaf::store {

// True if a store may use the file at `path`: a regular file of this user that no other user may
// write, and not empty. False if there is no file. The error is one sentence.
std::expected<bool, std::string> check_file(const std::string& path);

// Creates the file at `path` atomically, for this user only. `fill` gets the path of an empty file.
// It is not an error if the file appears meanwhile.
std::expected<void, std::string> create_file(
    const std::string& path, std::expected<void, std::string> (*fill)(const std::string& path));

// Names this boot of the machine; empty if the system does not report it.
std::string boot_name();

}  // namespace sheaf::store
