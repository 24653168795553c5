#include <unistd.h>

#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "cli/line/password.h"
#include "cli/program.h"
#include "cli/system/output.h"

int main(int argc, char** argv) {
  using namespace sheaf::cli;
  try {
    prepare_standard_streams();
    char** const first = argv + (argc > 0 ? 1 : 0);
    const std::vector<std::string> words(first, argv + argc);
    hide_passwords(std::span(first, argv + argc));
    Output out(STDOUT_FILENO);
    return static_cast<int>(run_program(words, STDIN_FILENO, out));
  } catch (const std::bad_alloc&) {
    complain("memory is exhausted.");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return static_cast<int>(ExitCode::failed);
}
