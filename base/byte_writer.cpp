#include "base/byte_writer.h"

#include <charconv>

namespace sheaf {

void ByteWriter::decimal(std::uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out_.append(digits, end);
}

}  // namespace sheaf
