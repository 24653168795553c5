# cmake -D MODE=static|shared -D SOURCE=tree -D BUILD=its build -D WORK=folder -D CXX=compiler
#       -P run.cmake
# static: installs BUILD and lets a project find, link and run it.
# shared: builds the shared library, with nothing but the core packages, inside a user's project
#         (add_subdirectory), runs that, installs it and goes on as above.

set(prefix "${WORK}/prefix")
set(generator -G Ninja "-DCMAKE_CXX_COMPILER=${CXX}")
# A list, which no list of arguments can have as one element.
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${LAUNCHER}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(build_and_run folder)
  run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/consumer" -B "${folder}" ${generator} ${ARGN})
  run("${CMAKE_COMMAND}" --build "${folder}")
  run("${folder}/consumer")
endfunction()

# Everything that the shared library exports is public, or an instance of std:: with public types.
function(check_exports library)
  execute_process(COMMAND nm -D --defined-only -C "${library}" OUTPUT_VARIABLE symbols
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]*sheaf::[^\n]*" ours "${symbols}")
  if(NOT ours)
    message(FATAL_ERROR "${library} exports nothing")
  endif()
  list(FILTER ours EXCLUDE REGEX "sheaf::v0::")
  if(ours)
    list(JOIN ours "\n" ours)
    message(FATAL_ERROR "${library} exports internal symbols:\n${ours}")
  endif()
endfunction()

file(REMOVE_RECURSE "${prefix}" "${WORK}/found")
if(MODE STREQUAL "static")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
else()
  build_and_run("${WORK}/subdirectory" "-DSHEAF_SOURCE=${SOURCE}" -DBUILD_SHARED_LIBS=ON
    -DSHEAF_INSTALL=ON -DSHEAF_TLS=OFF
    -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)  # it is the build that takes the time
  file(GLOB_RECURSE built "${WORK}/subdirectory/*.a" "${WORK}/subdirectory/*.so")
  if(NOT built STREQUAL "${WORK}/subdirectory/sheaf/libsheaf.so")
    message(FATAL_ERROR "inside another project more was built than the library: ${built}")
  endif()
  run("${CMAKE_COMMAND}" --install "${WORK}/subdirectory" --prefix "${prefix}")
  file(GLOB library "${prefix}/lib/libsheaf.so")
  check_exports("${library}")
endif()

# Nothing of the tree or its build may leak into what was installed.
file(GLOB_RECURSE package "${prefix}/lib/cmake/*.cmake")
foreach(file IN LISTS package)
  file(READ "${file}" text)
  if(text MATCHES "${SOURCE}/(include|base|cmake)")
    message(FATAL_ERROR "${file} names the source tree")
  endif()
endforeach()
build_and_run("${WORK}/found" "-DCMAKE_PREFIX_PATH=${prefix}")
