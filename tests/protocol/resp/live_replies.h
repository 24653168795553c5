#pragma once

// Replies of live servers, byte for byte: Redis 7.0.15 with three primaries and a replica, Garnet
// 2.2.8 with three primaries. One slot is moving from the first node to the second.

#include <string_view>

namespace sheaf::protocol::resp::live {

inline constexpr std::string_view redis_nodes =
    "$537\r\nd26eec3fb7aa5e4f5ed36b520a2724d895dd23e2 127.0.0.1:17304@27304 slave 8d466bd923e"
    "57d65799fcec46450be6b903e88df 0 1795412617000 1 connected\n"
    "c4cf704ce01b79dae35b2585bb5101b3cdd06721 127.0.0.1:17303@27303 master - 0 1795412617545 "
    "3 connected 10923-16383\n"
    "4b867efbe5fb356eddae97480bb6384698b9e45d 127.0.0.1:17302@27302,node2.example myself,mast"
    "er - 0 1795412616000 2 connected 5461-10922 [93-<-8d466bd923e57d65799fcec46450be6b903e88"
    "df]\n8d466bd923e57d65799fcec46450be6b903e88df 127.0.0.1:17301@27301 master - 0 179541261"
    "7946 1 connected 0-5460\n\r\n";

inline constexpr std::string_view redis_nodes_resp3 =
    "=541\r\ntxt:c4cf704ce01b79dae35b2585bb5101b3cdd06721 127.0.0.1:17303@27303 master - 0 17"
    "95412620270 3 connected 10923-16383\n"
    "d26eec3fb7aa5e4f5ed36b520a2724d895dd23e2 127.0.0.1:17304@27304 slave 8d466bd923e57d65799"
    "fcec46450be6b903e88df 0 1795412620070 1 connected\n"
    "4b867efbe5fb356eddae97480bb6384698b9e45d 127.0.0.1:17302@27302,node2.example master - 0 "
    "1795412619000 2 connected 5461-10922\n"
    "8d466bd923e57d65799fcec46450be6b903e88df 127.0.0.1:17301@27301 myself,master - 0 1795412"
    "619000 1 connected 0-5460 [93->-4b867efbe5fb356eddae97480bb6384698b9e45d]\n\r\n";

inline constexpr std::string_view redis_slots =
    "*3\r\n*4\r\n:0\r\n:5460\r\n*4\r\n$9\r\n127.0.0.1\r\n:17301\r\n$40\r\n"
    "8d466bd923e57d65799fcec46450be6b903e88df\r\n*0\r\n*4\r\n$9\r\n127.0.0.1\r\n:17304\r\n"
    "$40\r\nd26eec3fb7aa5e4f5ed36b520a2724d895dd23e2\r\n*0\r\n*3\r\n:5461\r\n:10922\r\n*4\r\n"
    "$9\r\n127.0.0.1\r\n:17302\r\n$40\r\n4b867efbe5fb356eddae97480bb6384698b9e45d\r\n*2\r\n"
    "$8\r\nhostname\r\n$13\r\nnode2.example\r\n*3\r\n:10923\r\n:16383\r\n*4\r\n$9\r\n"
    "127.0.0.1\r\n:17303\r\n$40\r\nc4cf704ce01b79dae35b2585bb5101b3cdd06721\r\n*0\r\n";

inline constexpr std::string_view redis_slots_resp3 =
    "*3\r\n*4\r\n:0\r\n:5460\r\n*4\r\n$9\r\n127.0.0.1\r\n:17301\r\n$40\r\n"
    "8d466bd923e57d65799fcec46450be6b903e88df\r\n%0\r\n*4\r\n$9\r\n127.0.0.1\r\n:17304\r\n"
    "$40\r\nd26eec3fb7aa5e4f5ed36b520a2724d895dd23e2\r\n%0\r\n*3\r\n:5461\r\n:10922\r\n*4\r\n"
    "$9\r\n127.0.0.1\r\n:17302\r\n$40\r\n4b867efbe5fb356eddae97480bb6384698b9e45d\r\n%1\r\n"
    "$8\r\nhostname\r\n$13\r\nnode2.example\r\n*3\r\n:10923\r\n:16383\r\n*4\r\n$9\r\n"
    "127.0.0.1\r\n:17303\r\n$40\r\nc4cf704ce01b79dae35b2585bb5101b3cdd06721\r\n%0\r\n";

inline constexpr std::string_view redis_shards =
    "*3\r\n*4\r\n$5\r\nslots\r\n*2\r\n:10923\r\n:16383\r\n$5\r\nnodes\r\n*1\r\n*14\r\n$2\r\n"
    "id\r\n$40\r\nc4cf704ce01b79dae35b2585bb5101b3cdd06721\r\n$4\r\nport\r\n:17303\r\n$2\r\n"
    "ip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$4\r\nrole\r\n$6\r\n"
    "master\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\nhealth\r\n$6\r\nonline\r\n*4\r\n"
    "$5\r\nslots\r\n*2\r\n:5461\r\n:10922\r\n$5\r\nnodes\r\n*1\r\n*16\r\n$2\r\nid\r\n$40\r\n"
    "4b867efbe5fb356eddae97480bb6384698b9e45d\r\n$4\r\nport\r\n:17302\r\n$2\r\nip\r\n$9\r\n"
    "127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$8\r\nhostname\r\n$13\r\n"
    "node2.example\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\n"
    "health\r\n$6\r\nonline\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:5460\r\n$5\r\nnodes\r\n"
    "*2\r\n*14\r\n$2\r\nid\r\n$40\r\n8d466bd923e57d65799fcec46450be6b903e88df\r\n$4\r\n"
    "port\r\n:17301\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n"
    "$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:2506\r\n$6\r\nhealth\r\n"
    "$6\r\nonline\r\n*14\r\n$2\r\nid\r\n$40\r\nd26eec3fb7aa5e4f5ed36b520a2724d895dd23e2\r\n"
    "$4\r\nport\r\n:17304\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n"
    "127.0.0.1\r\n$4\r\nrole\r\n$7\r\nreplica\r\n$18\r\nreplication-offset\r\n:2506\r\n$6\r\n"
    "health\r\n$6\r\nonline\r\n";

inline constexpr std::string_view redis_shards_resp3 =
    "*3\r\n%2\r\n$5\r\nslots\r\n*2\r\n:10923\r\n:16383\r\n$5\r\nnodes\r\n*1\r\n%7\r\n$2\r\n"
    "id\r\n$40\r\nc4cf704ce01b79dae35b2585bb5101b3cdd06721\r\n$4\r\nport\r\n:17303\r\n$2\r\n"
    "ip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$4\r\nrole\r\n$6\r\n"
    "master\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\nhealth\r\n$6\r\nonline\r\n%2\r\n"
    "$5\r\nslots\r\n*2\r\n:5461\r\n:10922\r\n$5\r\nnodes\r\n*1\r\n%8\r\n$2\r\nid\r\n$40\r\n"
    "4b867efbe5fb356eddae97480bb6384698b9e45d\r\n$4\r\nport\r\n:17302\r\n$2\r\nip\r\n$9\r\n"
    "127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$8\r\nhostname\r\n$13\r\n"
    "node2.example\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\n"
    "health\r\n$6\r\nonline\r\n%2\r\n$5\r\nslots\r\n*2\r\n:0\r\n:5460\r\n$5\r\nnodes\r\n"
    "*2\r\n%7\r\n$2\r\nid\r\n$40\r\n8d466bd923e57d65799fcec46450be6b903e88df\r\n$4\r\n"
    "port\r\n:17301\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n"
    "$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:2506\r\n$6\r\nhealth\r\n"
    "$6\r\nonline\r\n%7\r\n$2\r\nid\r\n$40\r\nd26eec3fb7aa5e4f5ed36b520a2724d895dd23e2\r\n"
    "$4\r\nport\r\n:17304\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n"
    "127.0.0.1\r\n$4\r\nrole\r\n$7\r\nreplica\r\n$18\r\nreplication-offset\r\n:2506\r\n$6\r\n"
    "health\r\n$6\r\nonline\r\n";

inline constexpr std::string_view redis_slots_by_hostname =
    "*3\r\n*4\r\n:0\r\n:5460\r\n*4\r\n$1\r\n?\r\n:17301\r\n$40\r\n"
    "8d466bd923e57d65799fcec46450be6b903e88df\r\n*2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n*4\r\n"
    "$1\r\n?\r\n:17304\r\n$40\r\nd26eec3fb7aa5e4f5ed36b520a2724d895dd23e2\r\n*2\r\n$2\r\n"
    "ip\r\n$9\r\n127.0.0.1\r\n*3\r\n:5461\r\n:10922\r\n*4\r\n$13\r\nnode2.example\r\n"
    ":17302\r\n$40\r\n4b867efbe5fb356eddae97480bb6384698b9e45d\r\n*2\r\n$2\r\nip\r\n$9\r\n"
    "127.0.0.1\r\n*3\r\n:10923\r\n:16383\r\n*4\r\n$1\r\n?\r\n:17303\r\n$40\r\n"
    "c4cf704ce01b79dae35b2585bb5101b3cdd06721\r\n*2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n";

inline constexpr std::string_view redis_shards_by_hostname =
    "*3\r\n*4\r\n$5\r\nslots\r\n*2\r\n:10923\r\n:16383\r\n$5\r\nnodes\r\n*1\r\n*14\r\n$2\r\n"
    "id\r\n$40\r\nc4cf704ce01b79dae35b2585bb5101b3cdd06721\r\n$4\r\nport\r\n:17303\r\n$2\r\n"
    "ip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$1\r\n?\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
    "$18\r\nreplication-offset\r\n:0\r\n$6\r\nhealth\r\n$6\r\nonline\r\n*4\r\n$5\r\nslots\r\n"
    "*2\r\n:5461\r\n:10922\r\n$5\r\nnodes\r\n*1\r\n*16\r\n$2\r\nid\r\n$40\r\n"
    "4b867efbe5fb356eddae97480bb6384698b9e45d\r\n$4\r\nport\r\n:17302\r\n$2\r\nip\r\n$9\r\n"
    "127.0.0.1\r\n$8\r\nendpoint\r\n$13\r\nnode2.example\r\n$8\r\nhostname\r\n$13\r\n"
    "node2.example\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\n"
    "health\r\n$6\r\nonline\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:5460\r\n$5\r\nnodes\r\n"
    "*2\r\n*14\r\n$2\r\nid\r\n$40\r\n8d466bd923e57d65799fcec46450be6b903e88df\r\n$4\r\n"
    "port\r\n:17301\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$1\r\n?\r\n$4\r\n"
    "role\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:2506\r\n$6\r\nhealth\r\n$6\r\n"
    "online\r\n*14\r\n$2\r\nid\r\n$40\r\nd26eec3fb7aa5e4f5ed36b520a2724d895dd23e2\r\n$4\r\n"
    "port\r\n:17304\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$1\r\n?\r\n$4\r\n"
    "role\r\n$7\r\nreplica\r\n$18\r\nreplication-offset\r\n:2506\r\n$6\r\nhealth\r\n$6\r\n"
    "online\r\n";

inline constexpr std::string_view garnet_nodes =
    "$426\r\n20c55f8cda914aa75854179f07365afd79dd03d1 127.0.0.1:17402@27402,vm myself,master "
    "- 0 0 2 connected 5461-10922 [93-<-14722be1006bcf06bb9ffd5cac7c6a80036f0878]\n"
    "14722be1006bcf06bb9ffd5cac7c6a80036f0878 127.0.0.1:17401@27401,vm master - 6393100942902"
    "60679 639310094290259867 1 connected 0-5460\n"
    "903c16654c200c859981a1b3d639d4720648ccb4 127.0.0.1:17403@27403,vm master - 6393100942902"
    "60834 639310094290260683 3 connected 10923-16383\n\r\n";

inline constexpr std::string_view garnet_slots =
    "*3\r\n*3\r\n:0\r\n:5460\r\n*4\r\n$9\r\n127.0.0.1\r\n:17401\r\n$40\r\n"
    "14722be1006bcf06bb9ffd5cac7c6a80036f0878\r\n*2\r\n$8\r\nhostname\r\n$2\r\nvm\r\n*3\r\n"
    ":5461\r\n:10922\r\n*4\r\n$9\r\n127.0.0.1\r\n:17402\r\n$40\r\n"
    "20c55f8cda914aa75854179f07365afd79dd03d1\r\n*2\r\n$8\r\nhostname\r\n$2\r\nvm\r\n*3\r\n"
    ":10923\r\n:16383\r\n*4\r\n$9\r\n127.0.0.1\r\n:17403\r\n$40\r\n"
    "903c16654c200c859981a1b3d639d4720648ccb4\r\n*2\r\n$8\r\nhostname\r\n$2\r\nvm\r\n";

inline constexpr std::string_view garnet_shards =
    "*3\r\n*4\r\n$5\r\nslots\r\n*2\r\n:5461\r\n:10922\r\n$5\r\nnodes\r\n*1\r\n*16\r\n$2\r\n"
    "id\r\n$40\r\n20c55f8cda914aa75854179f07365afd79dd03d1\r\n$4\r\nport\r\n:17402\r\n$2\r\n"
    "ip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$8\r\nhostname\r\n$2\r\n"
    "vm\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:64\r\n$6\r\nhealth\r\n"
    "$6\r\nonline\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:5460\r\n$5\r\nnodes\r\n*1\r\n*16\r\n"
    "$2\r\nid\r\n$40\r\n14722be1006bcf06bb9ffd5cac7c6a80036f0878\r\n$4\r\nport\r\n:17401\r\n"
    "$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n$8\r\nhostname\r\n"
    "$2\r\nvm\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\n"
    "health\r\n$6\r\nonline\r\n*4\r\n$5\r\nslots\r\n*2\r\n:10923\r\n:16383\r\n$5\r\nnodes\r\n"
    "*1\r\n*16\r\n$2\r\nid\r\n$40\r\n903c16654c200c859981a1b3d639d4720648ccb4\r\n$4\r\n"
    "port\r\n:17403\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n"
    "$8\r\nhostname\r\n$2\r\nvm\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\n"
    "replication-offset\r\n:0\r\n$6\r\nhealth\r\n$6\r\nonline\r\n";

inline constexpr std::string_view garnet_slots_by_hostname =
    "*1\r\n*3\r\n:0\r\n:16382\r\n*4\r\n$13\r\nnode0.example\r\n:17410\r\n$40\r\n"
    "b7eca830bb174b92738ee614f924bf5bda8a25f0\r\n*2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n";

inline constexpr std::string_view garnet_slots_unknown_endpoint =
    "*1\r\n*3\r\n:0\r\n:16382\r\n*4\r\n$-1\r\n:17411\r\n$40\r\n"
    "b1ad8476c0ce6a3631fa842411a03119fcfb1334\r\n*4\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\n"
    "hostname\r\n$13\r\nnode1.example\r\n";

inline constexpr std::string_view garnet_shards_unknown_endpoint =
    "*1\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:16382\r\n$5\r\nnodes\r\n*1\r\n*16\r\n$2\r\n"
    "id\r\n$40\r\nb1ad8476c0ce6a3631fa842411a03119fcfb1334\r\n$4\r\nport\r\n:17411\r\n$2\r\n"
    "ip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$1\r\n?\r\n$8\r\nhostname\r\n$13\r\n"
    "node1.example\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\n"
    "health\r\n$6\r\nonline\r\n";

inline constexpr std::string_view redis_hello =
    "*14\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n"
    ":2\r\n$2\r\nid\r\n:5\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\n"
    "master\r\n$7\r\nmodules\r\n*0\r\n";

inline constexpr std::string_view redis_hello_resp3 =
    "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n"
    ":3\r\n$2\r\nid\r\n:6\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\n"
    "master\r\n$7\r\nmodules\r\n*0\r\n";

inline constexpr std::string_view garnet_hello =
    "*16\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.3\r\n$14\r\n"
    "garnet_version\r\n$5\r\n2.2.8\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:23\r\n$4\r\nmode\r\n"
    "$7\r\ncluster\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n";

inline constexpr std::string_view garnet_hello_resp3 =
    "%8\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.3\r\n$14\r\n"
    "garnet_version\r\n$5\r\n2.2.8\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:24\r\n$4\r\nmode\r\n"
    "$7\r\ncluster\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n";

}  // namespace sheaf::protocol::resp::live
