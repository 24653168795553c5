# A toolchain for builds that need clang: clang 19 or, if that is missing, the newest clang.
include("${CMAKE_CURRENT_LIST_DIR}/SheafClang.cmake")
sheaf_find_clang(SHEAF_CLANG_C clang)
sheaf_find_clang(SHEAF_CLANG_CXX clang++)
if(SHEAF_CLANG_C AND SHEAF_CLANG_CXX)
  set(CMAKE_C_COMPILER "${SHEAF_CLANG_C}")
  set(CMAKE_CXX_COMPILER "${SHEAF_CLANG_CXX}")
endif()
