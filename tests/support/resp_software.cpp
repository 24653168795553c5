#include "tests/support/resp_software.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>

// Set by CMake: SHEAF_TEST_REDIS.

namespace sheaf::test {
namespace {

// The exit code by which CTest knows a skipped program.
constexpr int skipped_program = 77;

constexpr std::array table{
    SoftwareTraits{RespSoftware::redis, "Redis", "redis-server", "REDIS_SERVER"},
    SoftwareTraits{RespSoftware::valkey, "Valkey", "valkey-server", "VALKEY_SERVER"},
    SoftwareTraits{RespSoftware::garnet, "Garnet", "garnet-server", "GARNET_SERVER"}};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::string in_small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

const SoftwareTraits& traits_of(RespSoftware software) {
  return table.at(static_cast<std::size_t>(software));
}

std::optional<std::string> server_program(RespSoftware software) {
  const SoftwareTraits& traits = traits_of(software);
  if (std::string named = variable(traits.named_by); !named.empty()) return named;
  if (software == RespSoftware::redis) return SHEAF_TEST_REDIS;
  std::istringstream folders(variable("PATH") + ":/usr/bin:/usr/local/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / traits.program;
    if (folder.starts_with('/') && ::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return std::nullopt;
}

std::string not_installed(RespSoftware software) {
  const SoftwareTraits& traits = traits_of(software);
  return std::string("no ") + traits.program + ": it is neither in PATH nor named by " +
         traits.named_by;
}

std::optional<RespSoftware> software_in(const char* variable_name) {
  const std::string wanted = variable(variable_name);
  if (wanted.empty()) return std::nullopt;
  const auto found = std::ranges::find_if(
      table, [&](const SoftwareTraits& row) { return in_small_letters(row.name) == wanted; });
  if (found == table.end()) throw std::runtime_error(std::string(variable_name) + "=" + wanted);
  if (is_installed(found->software)) return found->software;
  // Prints a skip in GoogleTest's form, which tests/run.sh repeats.
  std::printf("resp_software.cpp:1: Skipped\n%s\n", not_installed(found->software).c_str());
  std::fflush(stdout);
  std::_Exit(skipped_program);
}

RespSoftware usual_software() {
  static const RespSoftware usual =
      software_in("SHEAF_TEST_SOFTWARE").value_or(RespSoftware::redis);
  return usual;
}

}  // namespace sheaf::test
