// The main program of a target: libFuzzer's, or, with `--write-seeds FOLDER`, one that writes a
// file for each seed.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/fuzz.h"

namespace {

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::size_t number = 0;
  for (const std::string& seed : sheaf::fuzz::seeds()) {
    std::ofstream(folder / std::to_string(++number), std::ios::binary) << seed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count == 3 && std::string_view((*arguments)[1]) == "--write-seeds") {
    write_seeds((*arguments)[2]);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sheaf::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
