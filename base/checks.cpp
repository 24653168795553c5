#include "base/checks.h"

#include <cstdio>
#include <cstdlib>

namespace sheaf {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "sheaf: broken invariant %s at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace sheaf
