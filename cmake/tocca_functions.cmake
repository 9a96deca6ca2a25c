# tocca_glob(SOURCES TESTS FOLDER): the .cpp files under FOLDER, those named *_test.cpp apart.
function(tocca_glob sources tests folder)
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  set(its_tests ${all})
  list(FILTER all EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER its_tests INCLUDE REGEX "_test\\.cpp$")
  set(${sources} ${all} PARENT_SCOPE)
  set(${tests} ${its_tests} PARENT_SCOPE)
endfunction()

# tocca_compile(TARGET): how everything of this project is compiled.
function(tocca_compile target)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
                                             COMPILE_WARNING_AS_ERROR ${TOCCA_WERROR})
  # GCC 12 sees overlapping copies in "text" + std::string, where there are none (GCC bug 105651).
  # Nobody replaces the library's functions while it is loaded: without saying so GCC makes calls of what it could inline.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic
                         "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-fno-semantic-interposition>")
endfunction()

# tocca_precompile(TARGET HEADER...): headers that cost more to read than most sources, read once.
function(tocca_precompile target)
  target_precompile_headers(${target} PRIVATE <Eigen/Core> <algorithm> <functional> <string> <vector> <fmt/format.h>
                            ${ARGN})
endfunction()

# tocca_embed(SOURCE FILE NAME HEADER): a generated source, its path in SOURCE, that holds the bytes of FILE and defines
# std::span<const unsigned char> tocca::NAME(), which HEADER declares.
function(tocca_embed source file name header)
  set(generated ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/${file} -DOUTPUT=${generated} -DNAME=${name}
            -DHEADER=${header} -P ${script}
    DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${script}
    VERBATIM)
  set(${source} ${generated} PARENT_SCOPE)
endfunction()
