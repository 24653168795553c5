#include <unistd.h>

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace sheaf::cli;
  try {
    prepare_standard_streams();
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    Output out(STDOUT_FILENO);
    return static_cast<int>(run_program(words, STDIN_FILENO, out));
  } catch (const std::bad_alloc&) {
    complain("memory is exhausted.");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return static_cast<int>(ExitCode::failed);
}
