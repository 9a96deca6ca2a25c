# Finds MATIO, a reader of MATLAB files, and defines the target MATIO::MATIO.
find_path(MATIO_INCLUDE_DIR matio.h)
find_library(MATIO_LIBRARY matio)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MATIO REQUIRED_VARS MATIO_LIBRARY MATIO_INCLUDE_DIR)
mark_as_advanced(MATIO_INCLUDE_DIR MATIO_LIBRARY)

if(MATIO_FOUND AND NOT TARGET MATIO::MATIO)
  add_library(MATIO::MATIO UNKNOWN IMPORTED)
  set_target_properties(MATIO::MATIO PROPERTIES IMPORTED_LOCATION ${MATIO_LIBRARY}
                                                    INTERFACE_INCLUDE_DIRECTORIES ${MATIO_INCLUDE_DIR})
endif()
