#include "base/exception_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>

namespace sheaf {

std::string exception_name() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception";
  int status = 0;
  char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string out = status == 0 ? name : type->name();
  std::free(name);
  return out;
}

}  // namespace sheaf
