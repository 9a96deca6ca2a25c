# Unit tests of the library and the command, the examples, and the checks of the tree itself.
enable_testing()
find_package(GTest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(GoogleTest)

function(tocca_add_tests name)
  add_executable(${name} ${ARGN})
  tocca_compile(${name})
  # Tests call the optimised library; their own code is built quickly.
  # (At that level GCC takes Eigen's resized matrices for uninitialised.)
  target_compile_options(${name} PRIVATE -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_definitions(${name} PRIVATE TOCCA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE tocca fmt::fmt hwy::hwy nlohmann_json::nlohmann_json ZLIB::ZLIB
                                        GTest::gtest GTest::gmock GTest::gtest_main)
  tocca_precompile(${name} <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>)
  # The library has all checks. In the tests these would double the time to compile the macros of the test framework.
  if(TOCCA_SANITIZE)
    target_compile_options(${name} PRIVATE -fno-sanitize=vptr,null,alignment,object-size)
  endif()
  # Listing the tests at run time, not while linking, lets the build go on while a machine is busy.
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 600)
endfunction()

tocca_add_tests(tocca_tests ${library_tests})

# Whole networks, gradients and trainings with the matrix unit's instructions on every machine.
add_test(NAME emulated_matrix_unit COMMAND tocca_tests --gtest_brief=1)
set_tests_properties(emulated_matrix_unit PROPERTIES ENVIRONMENT TOCCA_MATRIX_UNIT=emulated TIMEOUT 1200)

if(TARGET tocca_cli AND cli_tests)
  tocca_add_tests(tocca_cli_tests ${cli_tests})
  target_link_libraries(tocca_cli_tests PRIVATE tocca_commands)
  target_compile_definitions(tocca_cli_tests PRIVATE TOCCA_COMMAND="$<TARGET_FILE:tocca_cli>")
  add_dependencies(tocca_cli_tests tocca_cli)
endif()

file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(source IN LISTS examples)
  cmake_path(GET source STEM name)
  add_executable(example_${name} ${source})
  tocca_compile(example_${name})
  target_link_libraries(example_${name} PRIVATE tocca)
  add_test(NAME example.${name} COMMAND example_${name})
endforeach()

# The tree's own rules, and a test that these checks notice what they are for.
add_test(NAME include_order COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/include_order.py)
add_test(NAME include_order.notices COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/include_order_test.py)

# Its allocator stands before the C library's, which the sanitizers' does too.
if(NOT TOCCA_SANITIZE)
  add_executable(tocca_allocations tests/allocations/main.cpp)
  tocca_compile(tocca_allocations)
  target_link_libraries(tocca_allocations PRIVATE tocca)
  add_test(NAME allocations COMMAND tocca_allocations)
endif()

# A program outside of this tree finds the installed package. It is built without the sanitizers.
if(NOT TOCCA_SANITIZE)
  add_test(
    NAME install
    COMMAND
      ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSCRATCH=${PROJECT_BINARY_DIR}/install_test
      -DPROGRAM=${PROJECT_SOURCE_DIR}/tests/install -DCOMPILER=${CMAKE_CXX_COMPILER} -DGENERATOR=${CMAKE_GENERATOR}
      -DCONFIG=$<CONFIG> -P ${PROJECT_SOURCE_DIR}/tests/install/run.cmake)
endif()
