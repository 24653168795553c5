# Tests on a real broker, and sheaf_test_broker, the helper that starts one. Where the plugin is not
# built or the broker is not installed both are left out, and the configuration says so.
find_program(SHEAF_MOSQUITTO mosquitto PATHS /usr/sbin /usr/local/sbin)
find_program(SHEAF_MOSQUITTO_PASSWD mosquitto_passwd)
find_program(SHEAF_MOSQUITTO_RR mosquitto_rr)
if(NOT TARGET sheaf_statestore OR NOT SHEAF_MOSQUITTO OR NOT SHEAF_MOSQUITTO_PASSWD
   OR NOT SHEAF_MOSQUITTO_RR)
  message(WARNING "Tests on a real broker are left out: they need the packages mosquitto, "
                  "mosquitto-clients and mosquitto-dev.")
  return()
endif()

add_library(sheaf_test_broker STATIC support/broker_process.cpp)
target_link_libraries(sheaf_test_broker PRIVATE sheaf_flags)
target_include_directories(sheaf_test_broker PUBLIC "${PROJECT_SOURCE_DIR}")
target_compile_definitions(sheaf_test_broker PRIVATE
  "SHEAF_TEST_MOSQUITTO=\"${SHEAF_MOSQUITTO}\""
  "SHEAF_TEST_PASSWD=\"${SHEAF_MOSQUITTO_PASSWD}\""
  "SHEAF_TEST_PLUGIN=\"$<TARGET_FILE:sheaf_statestore>\"")
add_dependencies(sheaf_test_broker sheaf_statestore)

# A plugin with a sanitizer needs the sanitizer's runtime as the first library of the broker.
if(SHEAF_SANITIZE)
  string(SUBSTRING "${SHEAF_SANITIZE}" 0 1 kind)  # address: asan, thread: tsan
  set(runtime "lib${kind}san.so")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(runtime "libclang_rt.${kind}san-${CMAKE_SYSTEM_PROCESSOR}.so")
  endif()
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${runtime}"
                  OUTPUT_VARIABLE preload OUTPUT_STRIP_TRAILING_WHITESPACE)
  target_compile_definitions(sheaf_test_broker PRIVATE "SHEAF_TEST_PRELOAD=\"${preload}\"")
endif()

sheaf_test(plugin LAYERS base LIBS sheaf_test_broker LABELS broker)
target_sources(test_plugin PRIVATE "${PROJECT_SOURCE_DIR}/store/plugin/sink.cpp")
target_compile_definitions(test_plugin PRIVATE
  "SHEAF_TEST_MOSQUITTO_RR=\"${SHEAF_MOSQUITTO_RR}\"")
