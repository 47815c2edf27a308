# Every package comes from Debian 12; scripts/install-packages.sh names them.
set(OPENSSL_USE_STATIC_LIBS TRUE)  # also where CapnProto asks for it
find_package(Threads REQUIRED)
find_package(CapnProto REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(Boost 1.74 REQUIRED CONFIG)  # the headers of Boost.Container and Boost.Graph; nothing is linked
find_package(Eigen3 3.4 QUIET NO_MODULE)
if(NOT TARGET Eigen3::Eigen)
  message(FATAL_ERROR "Eigen 3.4 is not installed (Debian package libeigen3-dev): run scripts/install-packages.sh")
endif()

# The libraries with the most symbols are linked statically: binding them at run time took half of the time of a short
# command such as `tarcil run -- true` (docs/benchmarks.md).
foreach(library kj kj-async kj-http kj-tls capnp capnp-json capnp-rpc)
  find_library(TARCIL_STATIC_${library} lib${library}.a REQUIRED)
  set_target_properties(CapnProto::${library} PROPERTIES IMPORTED_LOCATION ${TARCIL_STATIC_${library}})
endforeach()
find_library(TARCIL_STATIC_yaml-cpp libyaml-cpp.a REQUIRED)
set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION_NONE ${TARCIL_STATIC_yaml-cpp})
add_library(tarcil_rocksdb INTERFACE)
foreach(library rocksdb snappy lz4 zstd bz2 z gflags)
  find_library(TARCIL_STATIC_${library} lib${library}.a REQUIRED)
  target_link_libraries(tarcil_rocksdb INTERFACE ${TARCIL_STATIC_${library}})
endforeach()
target_link_libraries(tarcil_rocksdb INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

# Reads the system's time zones. The program tarcil needs no library but the C library's, so this one is static.
add_library(tarcil_absl_time INTERFACE)
foreach(library time time_zone strings strings_internal int128 throw_delegate base raw_logging_internal spinlock_wait)
  find_library(TARCIL_STATIC_absl_${library} libabsl_${library}.a REQUIRED)
  target_link_libraries(tarcil_absl_time INTERFACE ${TARCIL_STATIC_absl_${library}})
endforeach()

# Shows the disks of slices.
find_library(TARCIL_FUSE fuse3 REQUIRED)
add_library(tarcil_fuse INTERFACE)
target_link_libraries(tarcil_fuse INTERFACE ${TARCIL_FUSE})
target_compile_definitions(tarcil_fuse INTERFACE _FILE_OFFSET_BITS=64)

# Reads layers of images.
find_library(TARCIL_ARCHIVE archive REQUIRED)

# Makes the filter of tasks' system calls.
find_library(TARCIL_STATIC_seccomp libseccomp.a REQUIRED)

# Debian's package of prometheus-cpp also asks for the libraries of its own server, which is not used: roles serve their
# metrics in their event loops.
find_library(TARCIL_PROMETHEUS prometheus-cpp-core REQUIRED)
add_library(tarcil_prometheus INTERFACE)
target_link_libraries(tarcil_prometheus INTERFACE ${TARCIL_PROMETHEUS})

# The roles make and drop small objects all the time: a master takes 14 % more commits than with the C library's
# allocator (docs/benchmarks.md). Sanitizers bring their own.
add_library(tarcil_allocator INTERFACE)
if(NOT TARCIL_SANITIZE)
  find_library(TARCIL_STATIC_jemalloc libjemalloc_pic.a REQUIRED)
  target_link_libraries(tarcil_allocator INTERFACE ${TARCIL_STATIC_jemalloc} Threads::Threads ${CMAKE_DL_LIBS})
endif()
