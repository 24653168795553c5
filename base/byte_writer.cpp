#include "base/byte_writer.h"

#include "base/text.h"

namespace sheaf {

void ByteWriter::decimal(std::uint64_t value) { out_.append(DecimalText(value).view()); }

}  // namespace sheaf
