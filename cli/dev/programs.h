#pragma once

// Finds the programs that `sheaf dev` runs.
//
// Thread rule: functions without state.

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::cli {

struct WantedProgram {
  std::string name;
  std::string given;                          // the file named by the user, if any
  std::string_view path;                      // folders separated by colons, as in PATH
  std::vector<std::filesystem::path> places;  // where to look next
  std::string advice;                         // the error if it is nowhere
};
// `given` if not empty, else the first executable file of that name.
std::expected<std::filesystem::path, std::string> find_program(const WantedProgram& wanted);

}  // namespace sheaf::cli
