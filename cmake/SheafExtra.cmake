# sheaf_extra(NAME SUMMARY LAYERS layer...)
# A library of its own on the public API, from the folder extras/NAME: sheaf::NAME in libsheaf-NAME,
# with its headers below extras/NAME/include. It may use only the LAYERS of sheaf's own code: a
# shared library has a hidden copy of what it needs of them; a static one finds it in libsheaf.a.
# Tests link the layer sheaf_extras_NAME, as they do for every folder.
function(sheaf_extra name summary)
  cmake_parse_arguments(ARG "" "" "LAYERS" ${ARGN})
  sheaf_layer(extras_${name} DIR extras/${name} DEPS client ${ARG_LAYERS})
  add_library(sheaf_${name} $<TARGET_OBJECTS:sheaf_extras_${name}_objects>)
  add_library(sheaf::${name} ALIAS sheaf_${name})
  set_target_properties(sheaf_${name} PROPERTIES
    EXPORT_NAME ${name}
    OUTPUT_NAME sheaf-${name}
    LINKER_LANGUAGE CXX
    INSTALL_RPATH "$ORIGIN"  # libsheaf is in the same folder
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    SHEAF_SUMMARY "${summary}")
  target_compile_features(sheaf_${name} INTERFACE cxx_std_20)
  target_link_libraries(sheaf_${name} PUBLIC sheaf)
  if(BUILD_SHARED_LIBS)
    foreach(layer IN LISTS ARG_LAYERS)
      target_link_libraries(sheaf_${name} PRIVATE sheaf_${layer})
    endforeach()
    target_link_options(sheaf_${name} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
  set(include "${PROJECT_SOURCE_DIR}/extras/${name}/include")
  file(GLOB headers CONFIGURE_DEPENDS "${include}/sheaf/*.h")
  target_sources(sheaf_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${include}" FILES ${headers})
  set_property(GLOBAL APPEND PROPERTY SHEAF_EXTRAS ${name})
endfunction()
