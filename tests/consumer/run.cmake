# cmake -D SOURCE=tree -D WORK=folder -D CXX=compiler -D LAUNCHER=launcher -D UNITY=ON -P run.cmake
# Builds a static library, with only the core packages, inside a user's project (add_subdirectory)
# and runs that, then once more with the libraries of extras/. Then installs them, and lets a
# project find, link and run them. With UNITY=OFF each source is compiled alone, which shows that it
# includes what it needs. tests/package has the shared libraries.

set(prefix "${WORK}/prefix")
set(generator -G Ninja "-DCMAKE_CXX_COMPILER=${CXX}")
# Set here because it is a list, which cannot be one element of an argument list.
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${LAUNCHER}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(build_and_run folder)
  run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/consumer" -B "${folder}" ${generator} ${ARGN})
  run("${CMAKE_COMMAND}" --build "${folder}")
  file(GLOB programs "${folder}/consumer_[0-9][0-9]" "${folder}/consumer_extras")
  if(NOT programs MATCHES "consumer_20;.*consumer_23" OR
     ARGN MATCHES "EXTRAS=ON" AND NOT programs MATCHES "consumer_extras")
    message(FATAL_ERROR "too few programs were built: ${programs}")
  endif()
  foreach(program IN LISTS programs)
    run("${program}")
  endforeach()
endfunction()

file(REMOVE_RECURSE "${prefix}" "${WORK}/found" "${WORK}/subdirectory/consumer_extras"
     "${WORK}/subdirectory/sheaf/libsheaf-leader.a"
     "${WORK}/subdirectory/sheaf/libsheaf-migration.a"
     "${WORK}/subdirectory/sheaf/libsheaf-discovery.a")  # of an earlier run
build_and_run("${WORK}/subdirectory" -USHEAF_* -UCONSUMER_EXTRAS "-DSHEAF_SOURCE=${SOURCE}"
  -DSHEAF_INSTALL=ON -DSHEAF_TLS=OFF "-DSHEAF_UNITY=${UNITY}"
  -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)  # most of the time is the build
file(GLOB_RECURSE built "${WORK}/subdirectory/*.a" "${WORK}/subdirectory/*.so")
if(NOT built STREQUAL "${WORK}/subdirectory/sheaf/libsheaf.a")
  message(FATAL_ERROR "inside another project more was built than the library: ${built}")
endif()
build_and_run("${WORK}/subdirectory" -DSHEAF_LEADER=ON -DSHEAF_MIGRATION=ON
  -DSHEAF_DISCOVERY=ON -DCONSUMER_EXTRAS=ON)
run("${CMAKE_COMMAND}" --install "${WORK}/subdirectory" --prefix "${prefix}")

# The installed package must not mention the tree or its build.
file(GLOB_RECURSE package "${prefix}/lib/cmake/*.cmake")
if(NOT package)
  message(FATAL_ERROR "no CMake package was installed")
endif()
foreach(file IN LISTS package)
  file(READ "${file}" text)
  if(text MATCHES "${SOURCE}/(include|base|extras|cmake)")
    message(FATAL_ERROR "${file} names the source tree")
  endif()
endforeach()
build_and_run("${WORK}/found" "-DCMAKE_PREFIX_PATH=${prefix}" -DCONSUMER_EXTRAS=ON)
