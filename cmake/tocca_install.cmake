# cmake --install: library, headers, command, and the package that find_package(tocca) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tocca)

install(TARGETS tocca EXPORT tocca_targets)
# testing/golden.h reads this repository's own reference values.
install(DIRECTORY tocca/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tocca FILES_MATCHING PATTERN "*.h"
        PATTERN "golden.h" EXCLUDE PATTERN "test_*.h" EXCLUDE)
install(EXPORT tocca_targets NAMESPACE tocca:: FILE toccaTargets.cmake DESTINATION ${package_dir})
if(TARGET tocca_cli)
  install(TARGETS tocca_cli)
endif()

configure_package_config_file(cmake/toccaConfig.cmake.in ${PROJECT_BINARY_DIR}/toccaConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/toccaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The static library's own dependencies must be found where it is used, so their finders go with it.
install(
  FILES ${PROJECT_BINARY_DIR}/toccaConfig.cmake ${PROJECT_BINARY_DIR}/toccaConfigVersion.cmake
        cmake/tocca_dependencies.cmake cmake/FindLAPACKE.cmake cmake/FindLIBLINEAR.cmake cmake/FindMATIO.cmake
  DESTINATION ${package_dir})
