# cmake --install: headers, library, CMake package; the program and the plugin where they are built.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sheaf")

install(TARGETS sheaf EXPORT sheafTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS sheaf_json EXPORT sheafJsonTargets
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT sheafTargets NAMESPACE sheaf:: DESTINATION "${package_dir}")
install(EXPORT sheafJsonTargets NAMESPACE sheaf:: DESTINATION "${package_dir}")

if(BUILD_SHARED_LIBS)
  set(SHEAF_IS_STATIC OFF)
else()
  set(SHEAF_IS_STATIC ON)
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/sheafConfig.cmake.in" "${PROJECT_BINARY_DIR}/sheafConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sheafConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sheafConfig.cmake"
              "${PROJECT_BINARY_DIR}/sheafConfigVersion.cmake" DESTINATION "${package_dir}")

# `sheaf dev` looks for the plugin in ../lib/sheaf beside its own folder.
if(TARGET sheaf_statestore)
  install(TARGETS sheaf_statestore LIBRARY DESTINATION lib/sheaf)
endif()
if(TARGET sheaf_cli)
  file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(sheaf_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
  install(TARGETS sheaf_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
