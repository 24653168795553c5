# sheaf_layer(NAME [DIR folder] DEPS layer...)
# Compiles a folder once (object library) and offers it to tests and programs as the static library
# sheaf_NAME, which links exactly the layers its arrows allow. Tests link layers, never the shared
# library, so that hidden symbols are theirs to test.
function(sheaf_layer name)
  cmake_parse_arguments(ARG "" "DIR" "DEPS" ${ARGN})
  if(NOT ARG_DIR)
    set(ARG_DIR ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${ARG_DIR}/*.cpp")
  if(NOT sources)
    file(WRITE "${PROJECT_BINARY_DIR}/empty_${name}.cpp" "")
    set(sources "${PROJECT_BINARY_DIR}/empty_${name}.cpp")
  endif()
  set(includes "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include"
               "${PROJECT_BINARY_DIR}/include")
  add_library(sheaf_${name}_objects OBJECT ${sources})
  target_include_directories(sheaf_${name}_objects PRIVATE ${includes})
  target_link_libraries(sheaf_${name}_objects PRIVATE sheaf_flags Threads::Threads)

  add_library(sheaf_${name} STATIC $<TARGET_OBJECTS:sheaf_${name}_objects>)
  set_target_properties(sheaf_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(sheaf_${name} PUBLIC ${includes})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(sheaf_${name} PUBLIC sheaf_${dep})
  endforeach()
  target_link_libraries(sheaf_${name} PUBLIC Threads::Threads)

  # Third parties, each in the one layer that may name it. xxHash and nlohmann/json are compiled in
  # from their headers; only libuv is left to link.
  if(name STREQUAL "base")
    target_link_libraries(sheaf_base_objects PRIVATE PkgConfig::SHEAF_XXHASH)
  elseif(name STREQUAL "socket")
    target_link_libraries(sheaf_socket_objects PRIVATE PkgConfig::SHEAF_UV)
    target_link_libraries(sheaf_socket PUBLIC PkgConfig::SHEAF_UV)
  elseif(name STREQUAL "cluster")
    target_link_libraries(sheaf_cluster_objects PRIVATE nlohmann_json::nlohmann_json)
  endif()
  set_property(GLOBAL APPEND PROPERTY SHEAF_LAYERS ${name})
endfunction()
