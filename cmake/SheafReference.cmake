# The target sheaf_reference: the API reference in the build's reference/html, if Doxygen and Python
# 3 are installed. Not part of ALL.
find_program(SHEAF_DOXYGEN doxygen)
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
set(SHEAF_DOXYFILE "${PROJECT_BINARY_DIR}/Doxyfile")
file(GLOB extras RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/extras/*/include")
set(extra_headers "")
foreach(include IN LISTS extras)
  string(APPEND extra_headers "INPUT                  += ${include}/sheaf\n"
                              "STRIP_FROM_PATH        += ${include}\n"
                              "STRIP_FROM_INC_PATH    += ${include}\n")
endforeach()
file(CONFIGURE OUTPUT "${SHEAF_DOXYFILE}" CONTENT [[
@INCLUDE                = docs/Doxyfile
PROJECT_NUMBER          = ${PROJECT_VERSION}
INPUT                  += "${PROJECT_BINARY_DIR}/include/sheaf"
STRIP_FROM_PATH        += "${PROJECT_BINARY_DIR}/include"
STRIP_FROM_INC_PATH    += "${PROJECT_BINARY_DIR}/include"
${extra_headers}OUTPUT_DIRECTORY        = "${PROJECT_BINARY_DIR}/reference"
GENERATE_TAGFILE        = "${PROJECT_BINARY_DIR}/reference/sheaf.tag"
]])
if(SHEAF_DOXYGEN AND Python3_FOUND)
  add_custom_target(sheaf_reference
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${PROJECT_BINARY_DIR}/reference"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/reference"
    COMMAND "${SHEAF_DOXYGEN}" "${SHEAF_DOXYFILE}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM
    COMMENT "Making the API reference in reference/html")
endif()
