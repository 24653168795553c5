# The one library that users link: sheaf::sheaf, from the objects of every layer.
configure_file("${PROJECT_SOURCE_DIR}/cmake/version.h.in"
               "${PROJECT_BINARY_DIR}/include/sheaf/version.h" @ONLY)
file(GLOB public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/sheaf/*.h")
list(FILTER public_headers EXCLUDE REGEX "/json\\.h$")

get_property(layers GLOBAL PROPERTY SHEAF_LAYERS)
set(objects)
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:sheaf_${layer}_objects>)
endforeach()
add_library(sheaf ${objects})
add_library(sheaf::sheaf ALIAS sheaf)
# Until 1.0 a minor version may change the interface, so the minor version is part of the SONAME.
set_target_properties(sheaf PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(sheaf INTERFACE cxx_std_20)
target_link_libraries(sheaf PRIVATE PkgConfig::SHEAF_UV Threads::Threads)
if(SHEAF_TLS)
  target_link_libraries(sheaf PRIVATE OpenSSL::SSL)
endif()
if(SHEAF_DURABLE)
  target_link_libraries(sheaf PRIVATE PkgConfig::SHEAF_SQLITE)
endif()
target_sources(sheaf PUBLIC FILE_SET HEADERS
  BASE_DIRS "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include"
  FILES ${public_headers} "${PROJECT_BINARY_DIR}/include/sheaf/version.h")

# sheaf/json.h uses nlohmann/json in its interface, so it has a target of its own.
add_library(sheaf_json INTERFACE)
add_library(sheaf::json ALIAS sheaf_json)
set_target_properties(sheaf_json PROPERTIES EXPORT_NAME json)
target_link_libraries(sheaf_json INTERFACE sheaf nlohmann_json::nlohmann_json)
target_sources(sheaf_json INTERFACE FILE_SET HEADERS
  BASE_DIRS "${PROJECT_SOURCE_DIR}/include"
  FILES "${PROJECT_SOURCE_DIR}/include/sheaf/json.h")
