# Compiles several sources of a folder as one (a batch), with the headers of the standard library
# precompiled. Names in unnamed namespaces must therefore be unique in a folder. SHEAF_UNITY=OFF
# compiles each source alone.
option(SHEAF_UNITY "Compile sources in batches, with precompiled headers" ON)
set(SHEAF_BATCH 12)  # the most sources in a batch: a change in one compiles the whole batch

# Tests replace these (tests/sim/kit, tests/toy). A program with a replacement does not link the
# source, so nothing else may be compiled with it.
set(SHEAF_ALONE base/entropy.cpp base/mutex.cpp base/parker.cpp base/quiet_thread.cpp
    base/read_clocks.cpp base/stop_callback.cpp base/this_thread.cpp
    client/runtime/transport.cpp protocol/endpoint_kinds_linked.cpp socket/lane/driver_signal.cpp)
list(TRANSFORM SHEAF_ALONE PREPEND "${PROJECT_SOURCE_DIR}/")

# sheaf_batches(OUT NAME source...): OUT is what to compile instead of the sources. A batch includes
# its sources by their path in the tree, so that ccache shares them between checkouts.
function(sheaf_batches out name)
  if(NOT SHEAF_UNITY)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(folders)
  set(batches)
  foreach(source IN LISTS ARGN)
    if(source IN_LIST SHEAF_ALONE)
      list(APPEND batches "${source}")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" id)
    list(APPEND folders ${id})
    list(APPEND sources_${id} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(id IN LISTS folders)
    list(LENGTH sources_${id} count)
    math(EXPR parts "(${count} + ${SHEAF_BATCH} - 1) / ${SHEAF_BATCH}")
    math(EXPR size "(${count} + ${parts} - 1) / ${parts}")
    list(GET sources_${id} 0 first)
    cmake_path(GET first PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set(part 0)
    while(sources_${id})
      list(SUBLIST sources_${id} 0 ${size} members)
      list(REMOVE_ITEM sources_${id} ${members})
      set(batch "${PROJECT_BINARY_DIR}/unity/${name}/${folder}/${part}.cpp")
      set(text)
      foreach(member IN LISTS members)
        cmake_path(RELATIVE_PATH member BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
        string(APPEND text "#include \"${path}\"\n")
      endforeach()
      file(CONFIGURE OUTPUT "${batch}" CONTENT "${text}" @ONLY)
      set_property(GLOBAL APPEND PROPERTY SHEAF_BATCHES "${batch}")
      set_property(GLOBAL PROPERTY "SHEAF_MEMBERS_OF_${batch}" "${members}")
      list(APPEND batches "${batch}")
      math(EXPR part "${part} + 1")
    endwhile()
  endforeach()
  set(${out} ${batches} PARENT_SCOPE)
endfunction()

# sheaf_precompile(TARGET): everything that the target compiles begins with the standard headers
# that most of the tree includes. All such targets share them, so they must have the same options.
function(sheaf_precompile target)
  if(NOT SHEAF_UNITY)
    return()
  endif()
  if(NOT TARGET sheaf_precompiled)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/unity/precompiled.cpp" CONTENT "")
    add_library(sheaf_precompiled OBJECT "${PROJECT_BINARY_DIR}/unity/precompiled.cpp")
    target_link_libraries(sheaf_precompiled PRIVATE sheaf_flags sheaf_places Threads::Threads)
    target_precompile_headers(sheaf_precompiled PRIVATE ${SHEAF_STANDARD_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM sheaf_precompiled)
  # In a batch g++ treats every unnamed namespace as one in a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
set(SHEAF_STANDARD_HEADERS <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <cstring>
    <deque> <expected> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span>
    <stop_token> <string> <string_view> <system_error> <unordered_map> <utility> <variant> <vector>)
