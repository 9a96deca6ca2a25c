# What the library links to. Read by the build and, installed beside toccaConfig.cmake, by every program that uses the
# library, so that the list is kept once.
include(CMakeFindDependencyMacro)

macro(tocca_find)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "tocca")
    find_dependency(${ARGN})
  else()
    find_package(${ARGN} REQUIRED)
  endif()
endmacro()

tocca_find(Eigen3 3.4)
tocca_find(Threads)
tocca_find(OpenBLAS)
tocca_find(LAPACKE)
tocca_find(LIBLINEAR)
tocca_find(ZLIB)
tocca_find(MATIO)
tocca_find(SQLiteCpp)
tocca_find(fmt)
tocca_find(hwy)
tocca_find(tomlplusplus)
if(NOT CMAKE_FIND_PACKAGE_NAME STREQUAL "tocca")
  find_package(nlohmann_json REQUIRED) # its headers are used in sources only
endif()

# Debian's OpenBLASConfig.cmake sets variables; only newer ones define the target.
if(NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS INTERFACE IMPORTED)
  target_include_directories(OpenBLAS::OpenBLAS INTERFACE ${OpenBLAS_INCLUDE_DIRS})
  target_link_libraries(OpenBLAS::OpenBLAS INTERFACE ${OpenBLAS_LIBRARIES})
endif()
