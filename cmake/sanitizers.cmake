# TARCIL_SANITIZE: value for -fsanitize= ("address,undefined" or "thread"); empty builds without a sanitizer.
# Two checks of "undefined" are left out, at every access by pointer: they cost a build a sixth. A null pointer stops
# the address sanitizer as well; misaligned access is the one thing that nothing looks for.
# The presets use clang for it: half of the time of g++ for tests, and a second compiler's view of what the language
# leaves open.
set(TARCIL_SANITIZE "" CACHE STRING "sanitizers to build with")
if(TARCIL_SANITIZE)
  add_compile_options(-fsanitize=${TARCIL_SANITIZE} -fno-sanitize=null,alignment -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TARCIL_SANITIZE})
endif()
