# Options, compiler flags and third-party packages.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(SHEAF_IS_TOP ${PROJECT_IS_TOP_LEVEL})

# Inside another project, settings of the whole build are left alone.
if(SHEAF_IS_TOP)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
  endif()
  find_program(SHEAF_CCACHE ccache)
  if(SHEAF_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Checkouts share compiled objects, so absolute paths must not matter.
    set(SHEAF_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
                       CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
                       "${SHEAF_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${SHEAF_LAUNCHER}")
    set(CMAKE_C_COMPILER_LAUNCHER "${SHEAF_LAUNCHER}")
  endif()
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(SHEAF_UV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(SHEAF_XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Threads REQUIRED)

# A build has what was asked for, whatever else happens to be installed. If a part needs something
# that is missing, configuring fails with the part's name.
option(SHEAF_TESTS "Build the tests (need GoogleTest)" ${SHEAF_IS_TOP})
option(SHEAF_SAMPLES "Build the samples" ${SHEAF_IS_TOP})
option(SHEAF_INSTALL "Install what is built" ${SHEAF_IS_TOP})
option(SHEAF_CLI "Build the sheaf program (needs CLI11)" ${SHEAF_IS_TOP})
option(SHEAF_PLUGIN "Build the Mosquitto plugin (needs mosquitto-dev and libmosquitto-dev)"
       ${SHEAF_IS_TOP})
option(SHEAF_LEADER "Build sheaf::leader" ${SHEAF_IS_TOP})
option(SHEAF_MIGRATION "Build sheaf::migration, and with it `sheaf migrate`" ${SHEAF_IS_TOP})
option(SHEAF_DISCOVERY "Build sheaf::discovery, and with it URIs of sources in `sheaf`"
       ${SHEAF_IS_TOP})
option(SHEAF_TLS "Connections over TLS (need OpenSSL 3)" ON)
option(SHEAF_DURABLE "Let stores keep their data in a file (needs SQLite 3.37)" OFF)
option(SHEAF_BENCH "Build the benchmarks (need libmosquitto, libmemcached)" OFF)
option(SHEAF_FUZZ "Build the fuzz targets (needs clang and its libFuzzer)" OFF)
option(SHEAF_WERROR "Treat warnings as errors" OFF)
set(SHEAF_SANITIZE "" CACHE STRING "Sanitizers: empty, address (ASan+UBSan) or thread (TSan)")

# sheaf_needs(OPTION FOUND WHAT PACKAGES)
function(sheaf_needs option found what packages)
  if(${option} AND NOT ${found})
    message(FATAL_ERROR "${option} is ON, but ${what} was not found (Debian: ${packages}). "
                        "-D ${option}=OFF builds without it.")
  endif()
endfunction()
if(SHEAF_TLS)
  find_package(OpenSSL 3 QUIET COMPONENTS SSL)
  sheaf_needs(SHEAF_TLS OPENSSL_FOUND "OpenSSL 3" libssl-dev)
endif()
if(SHEAF_CLI OR SHEAF_FUZZ)
  find_package(CLI11 QUIET)
  sheaf_needs(SHEAF_CLI CLI11_FOUND CLI11 libcli11-dev)
  sheaf_needs(SHEAF_FUZZ CLI11_FOUND CLI11 libcli11-dev)
endif()
if(SHEAF_PLUGIN)
  find_path(SHEAF_MOSQUITTO_INCLUDE NAMES mosquitto/broker_plugin.h mosquitto_plugin.h)
  find_path(SHEAF_LIBMOSQUITTO_INCLUDE mosquitto.h)
  sheaf_needs(SHEAF_PLUGIN SHEAF_MOSQUITTO_INCLUDE mosquitto_plugin.h mosquitto-dev)
  sheaf_needs(SHEAF_PLUGIN SHEAF_LIBMOSQUITTO_INCLUDE mosquitto.h libmosquitto-dev)
endif()
if(SHEAF_DURABLE)
  pkg_check_modules(SHEAF_SQLITE IMPORTED_TARGET sqlite3>=3.37)
  sheaf_needs(SHEAF_DURABLE SHEAF_SQLITE_FOUND "SQLite 3.37" libsqlite3-dev)
endif()

add_library(sheaf_flags INTERFACE)
target_compile_options(sheaf_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
                       # libstdc++ 12 sorts with a function that it calls deprecated itself.
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
if(SHEAF_WERROR)
  target_compile_options(sheaf_flags INTERFACE -Werror)
endif()

# The same sources give the same bytes. SHEAF_CHECK names files by their path in the tree, wherever
# the tree is, and no date is compiled in. ccache compiles with paths relative to the build folder.
file(RELATIVE_PATH from_build "${CMAKE_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/")
add_library(sheaf_places INTERFACE)
target_compile_options(sheaf_places INTERFACE -Wdate-time
                       "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/="
                       "-fmacro-prefix-map=${from_build}=")

if(SHEAF_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer
                      $<$<CXX_COMPILER_ID:Clang>:-Werror=thread-safety>)
  add_link_options(-fsanitize=address,undefined)
elseif(SHEAF_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NOT SHEAF_SANITIZE STREQUAL "")
  message(FATAL_ERROR "SHEAF_SANITIZE is '${SHEAF_SANITIZE}': expected empty, address or thread")
endif()
if(SHEAF_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
