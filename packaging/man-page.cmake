# The manual page, from what the program says of itself: cmake -DPROGRAM=croquis -DVERSION=1.3.0 -DOUT=croquis.1 -P.
function(ask out)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

ask(help --help)
string(REGEX MATCH "Subcommands:\n.*" commands "${help}")
string(REGEX MATCHALL "\n  [a-z]+ " commands "${commands}")
string(REGEX REPLACE "\nExit status.*" "\n" general "${help}")
string(FIND "${general}" "Options:" start)
string(SUBSTRING "${general}" ${start} -1 general)
string(REGEX MATCH "Exit status: ([^.]*)\\." exit_status "${help}")
set(exit_status "${CMAKE_MATCH_1}")

set(page ".TH CROQUIS 1 \"\" \"croquis ${VERSION}\" \"User Commands\"
.SH NAME
croquis \\- matrix sketching of self\\-attention, measured
.SH SYNOPSIS
.B croquis
.I COMMAND
.RI [ OPTIONS ]
.SH DESCRIPTION
.nf
${general}.fi
")
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  ask(text ${command} --help)
  string(REGEX REPLACE "\nExit status.*" "\n" text "${text}")
  string(TOUPPER "${command}" title)
  string(APPEND page ".SH CROQUIS ${title}\n.nf\n${text}.fi\n")
endforeach()
string(APPEND page ".SH EXIT STATUS\n${exit_status}.\n.SH SEE ALSO\n/usr/share/doc/croquis\n")
file(WRITE ${OUT} "${page}")
