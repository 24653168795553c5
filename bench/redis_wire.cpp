#include "bench/redis_peers.h"

namespace bench {
namespace {

void add_word(std::string& request, std::string_view word) {
  request.append("$").append(std::to_string(word.size())).append("\r\n");
  request.append(word).append("\r\n");
}

void add_get(std::string& request, std::string_view key) {
  request.append("*2\r\n$3\r\nGET\r\n");
  add_word(request, key);
}

}  // namespace

const RawWire redis_wire = {
    .add_get = add_get,
    .add_set =
        [](std::string& request, std::string_view key, std::string_view value) {
          request.append("*3\r\n$3\r\nSET\r\n");
          add_word(request, key);
          add_word(request, value);
        },
    .stored = "+OK\r\n",
    .list_begin = "",
    .add_to_list = add_get,
    .list_end = "",
    .add_value_head = [](std::string& reply, std::string_view) { reply.append("$100\r\n"); },
    .values_end = "",
};
static_assert(Data::value_size == 100, "it is written in the line above");

}  // namespace bench
