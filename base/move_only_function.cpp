#include <sheaf/move_only_function.h>

namespace sheaf::function_detail {

void called_empty() { throw std::bad_function_call(); }

}  // namespace sheaf::function_detail
