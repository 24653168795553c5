#include <sheaf/move_only_function.h>

namespace sheaf::inline v0::function_detail {

void called_empty() { throw std::bad_function_call(); }

}  // namespace sheaf::inline v0::function_detail
