# Tests on real servers of the Redis protocol, and sheaf_test_redis, the helper that starts them. If
# redis-server is not installed, both are left out, and the configuration says so. Tests look for
# Garnet and Valkey when they run (support/resp_software.h).
find_program(SHEAF_REDIS redis-server valkey-server PATHS /usr/bin /usr/local/bin)
if(NOT SHEAF_REDIS)
  message(WARNING "Tests on real servers of the Redis protocol are left out: they need the package "
                  "redis-server.")
  return()
endif()

add_library(sheaf_test_redis STATIC
  "${PROJECT_SOURCE_DIR}/cli/dev/blocking_connection.cpp"
  "${PROJECT_SOURCE_DIR}/cli/dev/cluster_forming.cpp"
  support/garnet_process.cpp support/redis_process.cpp support/resp_cluster.cpp
  support/resp_software.cpp)
target_link_libraries(sheaf_test_redis PUBLIC sheaf_test_process sheaf_protocol PRIVATE sheaf_flags)
target_compile_definitions(sheaf_test_redis PRIVATE "SHEAF_TEST_REDIS=\"${SHEAF_REDIS}\"")

sheaf_test(resp DIR live/resp LAYERS protocol LIBS sheaf_test_redis)
