#include "bench/memcached_peers.h"

namespace bench {

const RawWire memcached_wire = {
    .add_get = [](std::string& request,
                  std::string_view key) { request.append("get ").append(key).append("\r\n"); },
    .add_set =
        [](std::string& request, std::string_view key, std::string_view value) {
          request.append("set ").append(key).append(" 0 0 100\r\n").append(value).append("\r\n");
        },
    .stored = "STORED\r\n",
    .list_begin = "get",
    .add_to_list = [](std::string& request,
                      std::string_view key) { request.append(" ").append(key); },
    .list_end = "\r\n",
    .add_value_head =
        [](std::string& reply, std::string_view key) {
          reply.append("VALUE ").append(key).append(" 0 100\r\n");
        },
    .values_end = "END\r\n",
};
static_assert(Data::value_size == 100, "it is written in the lines above");

}  // namespace bench
