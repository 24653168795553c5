# sheaf_test_memcached, which starts a real memcached. If that is not installed, it is left out with
# the tests that need it, and the configuration says so.
find_program(SHEAF_MEMCACHED memcached PATHS /usr/bin /usr/local/bin)
find_program(SHEAF_SASLPASSWD saslpasswd2 PATHS /usr/sbin /usr/local/sbin)
if(NOT SHEAF_MEMCACHED OR NOT SHEAF_SASLPASSWD)
  message(WARNING "Tests on a real memcached are left out: they need the packages memcached and "
                  "sasl2-bin.")
  return()
endif()

add_library(sheaf_test_memcached STATIC support/memcached_process.cpp)
target_link_libraries(sheaf_test_memcached PUBLIC sheaf_test_process PRIVATE sheaf_flags)
target_compile_definitions(sheaf_test_memcached PRIVATE
  "SHEAF_TEST_MEMCACHED=\"${SHEAF_MEMCACHED}\""
  "SHEAF_TEST_SASLPASSWD=\"${SHEAF_SASLPASSWD}\"")
