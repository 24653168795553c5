# cmake --install: installs what is built, in components.
#
#   library        the shared library that programs load
#   development    headers, what links against the library, packages for CMake, pkg-config and CPS
#   NAME, NAME_development  the same of the library of its own sheaf::NAME, such as migration
#   program        `sheaf`
#   plugin         the state store inside Mosquitto
#   documentation  pages, samples, licence, and the bill of materials (SPDX)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sheaf")

install(TARGETS sheaf EXPORT sheafTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
                NAMELINK_COMPONENT development
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(TARGETS sheaf_json EXPORT sheafJsonTargets
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT sheafTargets NAMESPACE sheaf:: DESTINATION "${package_dir}" COMPONENT development)
install(EXPORT sheafJsonTargets NAMESPACE sheaf:: DESTINATION "${package_dir}"
        COMPONENT development)

get_property(SHEAF_EXTRAS GLOBAL PROPERTY SHEAF_EXTRAS)
foreach(extra IN LISTS SHEAF_EXTRAS)
  install(TARGETS sheaf_${extra} EXPORT sheaf-${extra}Targets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${extra}_development
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${extra}
                  NAMELINK_COMPONENT ${extra}_development
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
                           COMPONENT ${extra}_development)
  install(EXPORT sheaf-${extra}Targets NAMESPACE sheaf:: DESTINATION "${package_dir}"
          COMPONENT ${extra}_development)
endforeach()

# The libraries that a program must link if its sheaf is static.
set(requirements "libuv >= 1.40")
if(SHEAF_TLS)
  string(APPEND requirements ", openssl >= 3")
endif()
if(SHEAF_DURABLE)
  string(APPEND requirements ", sqlite3 >= 3.37")
endif()
if(BUILD_SHARED_LIBS)
  set(SHEAF_IS_STATIC OFF)
  set(SHEAF_PC_REQUIRES "Requires.private: ${requirements}")
  set(SHEAF_PC_LIBS "-L\${libdir} -lsheaf")
else()
  set(SHEAF_IS_STATIC ON)
  set(SHEAF_PC_REQUIRES "Requires: ${requirements}")
  set(SHEAF_PC_LIBS "-L\${libdir} -lsheaf -pthread")
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/sheafConfig.cmake.in" "${PROJECT_BINARY_DIR}/sheafConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sheafConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sheafConfig.cmake"
              "${PROJECT_BINARY_DIR}/sheafConfigVersion.cmake" DESTINATION "${package_dir}"
        COMPONENT development)

# Both find the prefix by a path relative to themselves, so that an install can be moved.
file(RELATIVE_PATH SHEAF_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/sheaf.pc.in" "${PROJECT_BINARY_DIR}/sheaf.pc" @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/cmake/sheaf-json.pc.in" "${PROJECT_BINARY_DIR}/sheaf-json.pc"
               @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/sheaf.pc" "${PROJECT_BINARY_DIR}/sheaf-json.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
foreach(extra IN LISTS SHEAF_EXTRAS)
  get_target_property(summary sheaf_${extra} SHEAF_SUMMARY)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/sheaf-extra.pc.in"
                 "${PROJECT_BINARY_DIR}/sheaf-${extra}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/sheaf-${extra}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${extra}_development)
endforeach()
# CMake 4.3 and later look for CPS first. If a component or one of its requirements is missing
# there, they do not read sheafConfig.cmake either. So JSON and the libraries of extras/ are
# components here, too. A static library has no CPS, because the libraries it requires have none.
if(BUILD_SHARED_LIBS)
  set(SHEAF_CPS_PREFIX "@prefix@")
  set(SHEAF_CPS_LIBDIR "@prefix@/${CMAKE_INSTALL_LIBDIR}")
  function(sheaf_cps name template component)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${template}.cps.in"
                   "${PROJECT_BINARY_DIR}/${name}.cps.file" @ONLY)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${name}.cps"
         INPUT "${PROJECT_BINARY_DIR}/${name}.cps.file")
    install(FILES "${PROJECT_BINARY_DIR}/${name}.cps"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/cps/sheaf" COMPONENT ${component})
  endfunction()
  sheaf_cps(sheaf sheaf development)
  foreach(extra IN LISTS SHEAF_EXTRAS)
    sheaf_cps(sheaf-${extra} sheaf-extra ${extra}_development)
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/sheaf-json.cps"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/cps/sheaf" COMPONENT development)
endif()

# `sheaf dev` looks for the plugin here.
if(TARGET sheaf_statestore)
  install(TARGETS sheaf_statestore LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/sheaf"
          COMPONENT plugin)
endif()
if(TARGET sheaf_cli)
  file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(sheaf_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
  install(TARGETS sheaf_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  # Generates the program's own texts: sheaf_says(FILE FOLDER NAME WORD...)
  function(sheaf_says file folder name)
    set(output "${PROJECT_BINARY_DIR}/says/${file}")
    add_custom_command(OUTPUT "${output}" COMMAND sheaf_cli ${ARGN} > "${output}"
                       DEPENDS sheaf_cli VERBATIM)
    set_property(GLOBAL APPEND PROPERTY SHEAF_SAYS "${output}")
    install(FILES "${output}" DESTINATION "${folder}" RENAME "${name}" COMPONENT program)
  endfunction()
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/says")
  sheaf_says(sheaf.1 "${CMAKE_INSTALL_MANDIR}/man1" sheaf.1 man)
  set(share "${CMAKE_INSTALL_DATADIR}")
  sheaf_says(sheaf.bash "${share}/bash-completion/completions" sheaf completion bash)
  sheaf_says(sheaf.zsh "${share}/zsh/vendor-completions" _sheaf completion zsh)
  sheaf_says(sheaf.fish "${share}/fish/vendor_completions.d" sheaf.fish completion fish)
  get_property(says GLOBAL PROPERTY SHEAF_SAYS)
  add_custom_target(sheaf_says ALL DEPENDS ${says})
endif()

include(SheafBillOfMaterials)
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE "${PROJECT_BINARY_DIR}/sheaf.spdx.json"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documentation)
install(DIRECTORY docs samples DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        COMPONENT documentation PATTERN progress.md EXCLUDE PATTERN Doxyfile EXCLUDE
        PATTERN doxygen_filter.py EXCLUDE)
