# sheaf_find_clang(VARIABLE NAME): a program of clang, such as clang++, of version 19 or, if that is
# missing, of the newest later version.
function(sheaf_find_clang variable name)
  set(names ${name}-19)
  foreach(version RANGE 40 20)
    list(APPEND names ${name}-${version})
  endforeach()
  find_program(${variable} NAMES ${names})
endfunction()
