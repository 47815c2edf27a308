# TARCIL_SANITIZE: value for -fsanitize= ("address,undefined" or "thread"); empty builds without a sanitizer.
set(TARCIL_SANITIZE "" CACHE STRING "sanitizers to build with")
if(TARCIL_SANITIZE)
  add_compile_options(-fsanitize=${TARCIL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TARCIL_SANITIZE})
endif()
