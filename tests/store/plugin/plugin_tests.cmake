# The plugin in models of brokers, and the functions that it takes from real ones. Needs the plugin,
# but no broker.
if(NOT TARGET sheaf_statestore)
  return()
endif()

# A copy of the plugin that frees a topic which the broker frees, and calls a function that not all
# brokers export. Both must be found.
file(READ "${PROJECT_SOURCE_DIR}/store/plugin/broker_host.cpp" source)
set(rule "  sink_topic.copy(event.topic, sink_topic.size());\n")
string(REPLACE "${rule}" "  mosquitto_free(event.topic);
  event.topic = static_cast<char*>(mosquitto_malloc(sink_topic.size() + 1));
  if (event.topic == nullptr) throw std::runtime_error(mosquitto_strerror(MOSQ_ERR_NOMEM));
${rule}" planted "${source}")
if(planted STREQUAL source)
  message(FATAL_ERROR "The place for the planted bug in broker_host.cpp was not found.")
endif()
string(REPLACE "#include <cstring>" "#include <cstring>\n#include <stdexcept>" planted "${planted}")
file(CONFIGURE OUTPUT planted/broker_host.cpp CONTENT "${planted}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${PROJECT_SOURCE_DIR}/store/plugin/broker_host.cpp")
get_target_property(sources sheaf_statestore SOURCES)
list(REMOVE_ITEM sources broker_host.cpp)
list(TRANSFORM sources PREPEND "${PROJECT_SOURCE_DIR}/store/plugin/")
add_library(sheaf_planted_statestore MODULE ${sources}
            "${CMAKE_CURRENT_BINARY_DIR}/planted/broker_host.cpp")
target_link_libraries(sheaf_planted_statestore PRIVATE sheaf_store_durable sheaf_store_rights
                      sheaf_store_engine sheaf_flags)
target_include_directories(sheaf_planted_statestore SYSTEM PRIVATE "${SHEAF_MOSQUITTO_INCLUDE}")

# The plugin takes the functions of a model of a broker from the program.
target_include_directories(test_pure SYSTEM PRIVATE "${SHEAF_MOSQUITTO_INCLUDE}")
set_target_properties(test_pure PROPERTIES ENABLE_EXPORTS ON)
target_link_libraries(test_pure PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(test_pure PRIVATE
  "SHEAF_TEST_PLUGIN=\"$<TARGET_FILE:sheaf_statestore>\""
  "SHEAF_TEST_PLANTED_PLUGIN=\"$<TARGET_FILE:sheaf_planted_statestore>\"")
add_dependencies(test_pure sheaf_statestore sheaf_planted_statestore)

# Each supported release must export what the plugin takes from a broker.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(Python3_FOUND)
  set(check "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/store/plugin/broker_symbols.py"
            "${CMAKE_NM}" "${CMAKE_CURRENT_SOURCE_DIR}/store/plugin/broker_symbols")
  add_test(NAME broker_symbols.plugin
           COMMAND ${check} module "$<TARGET_FILE:sheaf_statestore>")
  add_test(NAME broker_symbols.planted
           COMMAND ${check} module "$<TARGET_FILE:sheaf_planted_statestore>")
  set_tests_properties(broker_symbols.planted PROPERTIES
                       PASS_REGULAR_EXPRESSION "2.0.21 does not export mosquitto_strerror")
  if(SHEAF_MOSQUITTO)
    add_test(NAME broker_symbols.installed COMMAND ${check} broker "${SHEAF_MOSQUITTO}")
  endif()
endif()
