# What most sources include is parsed once and not in each of them, which is half of the time of a build. Sources still
# include all that they use: clang reads them without this (scripts/check-clang.py).
set(headers
    <algorithm> <array> <charconv> <deque> <filesystem> <fstream> <functional> <map> <memory> <optional> <set> <sstream>
    <string> <string_view> <unordered_map> <utility> <variant> <vector>
    <boost/container/flat_map.hpp> <boost/container/small_vector.hpp>
    <kj/async.h> <kj/debug.h> <kj/io.h> <capnp/capability.h> <capnp/generated-header-support.h>)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "")
foreach(kind IN ITEMS library test)
  add_library(tarcil_${kind}_headers OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(tarcil_${kind}_headers PRIVATE CapnProto::capnp-rpc)
  target_precompile_headers(tarcil_${kind}_headers PRIVATE ${headers})
endforeach()
target_link_libraries(tarcil_test_headers PRIVATE GTest::gmock rapidcheck)
target_precompile_headers(tarcil_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
tarcil_options(tarcil_library_headers)
tarcil_test_options(tarcil_test_headers)
