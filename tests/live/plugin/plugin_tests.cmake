# Tests on a real broker, and sheaf_test_broker, the helper that starts one. If the plugin is not
# built or the broker is not installed, both are left out, and the configuration says so.
find_program(SHEAF_MOSQUITTO mosquitto PATHS /usr/sbin /usr/local/sbin)
find_program(SHEAF_MOSQUITTO_PASSWD mosquitto_passwd)
find_program(SHEAF_MOSQUITTO_RR mosquitto_rr)

# Under ThreadSanitizer the broker itself crashes: glibc resolves a bridge's address in a thread
# whose start the sanitizer has not seen. The plugin has one thread, so there is nothing to find.
if(SHEAF_SANITIZE STREQUAL "thread")
  message(STATUS "Tests on a real broker are left out: the broker does not run under "
                 "ThreadSanitizer.")
  return()
endif()

if(NOT TARGET sheaf_statestore OR NOT SHEAF_MOSQUITTO OR NOT SHEAF_MOSQUITTO_PASSWD
   OR NOT SHEAF_MOSQUITTO_RR)
  message(WARNING "Tests on a real broker are left out: they need the packages mosquitto, "
                  "mosquitto-clients and mosquitto-dev.")
  return()
endif()

# Enhanced authentication with tokens from a file.
add_library(sheaf_test_tokens MODULE support/token_plugin/token_plugin.cpp)
target_link_libraries(sheaf_test_tokens PRIVATE sheaf_flags)
target_include_directories(sheaf_test_tokens SYSTEM PRIVATE "${SHEAF_MOSQUITTO_INCLUDE}")

# The product's plugin with a store that a test can empty.
add_library(sheaf_test_forgetting MODULE support/forgetting_plugin/forgetting_plugin.cpp)
target_link_libraries(sheaf_test_forgetting PRIVATE sheaf_flags ${CMAKE_DL_LIBS})
target_include_directories(sheaf_test_forgetting SYSTEM PRIVATE "${SHEAF_MOSQUITTO_INCLUDE}")
target_compile_definitions(sheaf_test_forgetting PRIVATE
  "SHEAF_TEST_PLUGIN=\"$<TARGET_FILE:sheaf_statestore>\"")

add_library(sheaf_test_broker STATIC support/broker_process.cpp)
target_link_libraries(sheaf_test_broker PUBLIC sheaf_test_process PRIVATE sheaf_flags)
target_compile_definitions(sheaf_test_broker PRIVATE
  "SHEAF_TEST_MOSQUITTO=\"${SHEAF_MOSQUITTO}\""
  "SHEAF_TEST_PASSWD=\"${SHEAF_MOSQUITTO_PASSWD}\""
  "SHEAF_TEST_PLUGIN=\"$<TARGET_FILE:sheaf_statestore>\""
  "SHEAF_TEST_FORGETTING_PLUGIN=\"$<TARGET_FILE:sheaf_test_forgetting>\""
  "SHEAF_TEST_TOKEN_PLUGIN=\"$<TARGET_FILE:sheaf_test_tokens>\"")
add_dependencies(sheaf_test_broker sheaf_statestore sheaf_test_forgetting sheaf_test_tokens)

# AddressSanitizer in the plugin requires its runtime as the broker's first library.
if(SHEAF_SANITIZE STREQUAL "address")
  set(runtime libasan.so)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(runtime "libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so")
  endif()
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${runtime}"
                  OUTPUT_VARIABLE preload OUTPUT_STRIP_TRAILING_WHITESPACE)
  target_compile_definitions(sheaf_test_broker PRIVATE
                             "SHEAF_TEST_PRELOAD=\"${preload}\""
                             "SHEAF_TEST_SYMBOLIZER=\"${SHEAF_SYMBOLIZER}\"")
endif()

sheaf_test(plugin DIR live/plugin LAYERS base LIBS sheaf_test_broker)
target_sources(test_plugin PRIVATE "${PROJECT_SOURCE_DIR}/store/plugin/sink.cpp"
               "${PROJECT_SOURCE_DIR}/store/plugin/broker_check.cpp")
target_include_directories(test_plugin SYSTEM PRIVATE "${SHEAF_MOSQUITTO_INCLUDE}")
target_compile_definitions(test_plugin PRIVATE
  "SHEAF_TEST_MOSQUITTO_RR=\"${SHEAF_MOSQUITTO_RR}\""
  "SHEAF_TEST_NM=\"${CMAKE_NM}\""
  "SHEAF_TEST_PLUGIN=\"$<TARGET_FILE:sheaf_statestore>\"")
