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
  void* filter;  // header->filter instructions
  const uint32_t* groups;
  const char* taskDirectory;
  const char* workPoint;
  const char* workDirectory;
  const char* root;
  const char* searchPath;
  const char* birthCgroup;
  const char* oomFile;
  const char* leaseFile;
  const char* program;
  char** arguments;  // ends with a null pointer, as execve wants it
  char** variables;  // likewise
  char** directories;
  Setting* settings;
  char** joins;
  char** outputJoins;
};

// False if what `fd` holds is not a complete plan of this build.
bool readPlan(int fd, Plan& plan);

}  // namespace tarcil
