# Installs a build into a scratch folder, then configures, builds and runs the program beside this script against it.
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

function(must)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix --config ${CONFIG})
file(GLOB_RECURSE unwanted ${SCRATCH}/prefix/*_test.*)
if(unwanted)
  message(FATAL_ERROR "tests were installed: ${unwanted}")
endif()
must(${CMAKE_COMMAND} -S ${PROGRAM} -B ${SCRATCH}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
     -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix)
must(${CMAKE_COMMAND} --build ${SCRATCH}/build --config ${CONFIG})
must(${SCRATCH}/build/uses_tocca)
