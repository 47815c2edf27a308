# How this project declares its targets: warnings as errors, includes from the source root, sources always listed.
function(tarcil_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
  # g++ 12 at -O2 takes a std::optional or std::variant inside a KJ promise for uninitialised. And it forgets that a
  # precompiled header was a system's, of which it says nothing else: KJ looks into the pointers of its functors, and
  # lengths of strings in the standard library are taken for larger than the strings.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-array-bounds>
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread>
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-fpch-preprocess>)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PUBLIC ${Boost_INCLUDE_DIRS})
endfunction()

# tarcil_library(NAME SOURCES a.cc b.h ... LINK targets...)
function(tarcil_library target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC ${ARG_LINK})
  tarcil_options(${target})
  target_precompile_headers(${target} REUSE_FROM tarcil_library_headers)
endfunction()

# tarcil_program(NAME SOURCES ... LINK ...)
function(tarcil_program target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  tarcil_options(${target})
  target_precompile_headers(${target} REUSE_FROM tarcil_library_headers)
endfunction()

# The tests' own sources are half of a build: optimising them costs more than it saves.
function(tarcil_test_options target)
  tarcil_options(${target})
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# tarcil_build_alone(SOURCES...): for sources of the caller's folder with names of their own that others there have too.
# The presets with sanitizers build several sources as one unit: half of the time.
function(tarcil_build_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tarcil_test(NAME SOURCES ... LINK ... [LABELS ...] [LOCK name]): one GoogleTest program, one CTest entry per test case.
# Under a sanitizer four entries per program, each with a quarter of its cases: a process takes 0.1 s to start there.
# Each test source has a namespace of its own, so that any of them can be built as one unit.
# Labels: the program's own name, `threads` where the code under test starts threads, `processes` where the test starts
# processes and `in_process` where it does not. Target `tests_LABEL` builds all programs with the label.
# Lock: no two tests that name the same one run at once. No leak check: that looks at the
# stacks of all threads as the process ends, and crashes now and then where gRPC has some (LLVM 14, glibc 2.36).
function(tarcil_test target)
  cmake_parse_arguments(ARG "NO_LEAK_CHECK" "LOCK" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  tarcil_test_options(${target})
  target_precompile_headers(${target} REUSE_FROM tarcil_test_headers)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT processes IN_LIST ARG_LABELS)
    list(APPEND ARG_LABELS in_process)
  endif()
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${target})
  endforeach()
  # gtest_discover_tests splits a list; `ctest -L` takes a pattern, so one string does.
  list(JOIN ARG_LABELS "," labels)
  string(JOIN "," labels ${target} ${labels})
  set(properties LABELS ${labels})
  if(ARG_LOCK)
    list(APPEND properties RESOURCE_LOCK ${ARG_LOCK})
  endif()
  if(TARCIL_SANITIZE)
    set(noLeakCheck "")
    if(ARG_NO_LEAK_CHECK)
      set(noLeakCheck ";LSAN_OPTIONS=detect_leaks=0")
    endif()
    foreach(shard RANGE 3)
      add_test(NAME ${target}.${shard} COMMAND ${target} --gtest_brief=1)
      set_tests_properties(${target}.${shard} PROPERTIES TIMEOUT 600 ${properties}
                           ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard}${noLeakCheck}")
    endforeach()
  else()
    gtest_discover_tests(${target} DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 300 ${properties})
  endif()
endfunction()
include(GoogleTest)
