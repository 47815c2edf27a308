// The launch plan as the shim uses it. Layout: shim/plan.h.
#pragma once

#include "shim/plan.h"

namespace tarcil {

struct Setting {
  const char* file;
  const char* value;
};

// Views into memory that lives as long as the process.
struct Plan {
  const PlanHeader* header;
  void* filter;              // header->filter instructions
  const void* deviceFilter;  // header->deviceFilter instructions
  const uint32_t* groups;
  const PlanDevice* devices;
  const char* taskDirectory;
  const char* workPoint;
  const char* workDirectory;
  const char* root;
  const char* searchPath;
  const char* birthCgroup;
  const char* oomFile;
  const char* peakFile;
  const char* cpuFile;
  const char* leaseFile;
  const char* program;
  const char* outputFile;
  const char* errorFile;
  const char* fileRemedy;
  const char* inputFile;
  char** arguments;  // ends with a null pointer, as execve wants it
  char** variables;  // likewise
  char** directories;
  Setting* settings;
  char** joins;
  char** outputJoins;
  char** devicePaths;
  char** shares;
  char** hidden;
};

// False if what `fd` holds is not a complete plan of this build.
bool readPlan(int fd, Plan& plan);

// The same of `size` bytes at `data`, which is aligned to 8 bytes, with room for so many pointers at
// `pointers`; the plan views both.
bool parsePlan(char* data, size_t size, char** pointers, Plan& plan);
// Each string takes a byte or more, so there are never more of them than bytes.
inline size_t pointersOf(size_t size) {
  return size + 8;
}

}  // namespace tarcil
