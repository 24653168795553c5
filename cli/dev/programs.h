#pragma once

// Where a program is found that `sheaf dev` runs.
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
  std::string given;                          // the file that the user named, if any
  std::string_view path;                      // folders with colons between them, as in PATH
  std::vector<std::filesystem::path> places;  // where to look then
  std::string advice;                         // the sentence if it is nowhere
};
// `given` if it is not empty, else the first file of that name that can be run.
std::expected<std::filesystem::path, std::string> find_program(const WantedProgram& wanted);

}  // namespace sheaf::cli
