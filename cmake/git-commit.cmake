# Writes git_commit.hpp when the commit has changed. Run at build time with -DOUT=file -DSOURCE=folder.
cmake_minimum_required(VERSION 3.25)
set(commit unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\n\n#define CROQUIS_GIT_COMMIT \"@commit@\"\n" @ONLY)
