// The program tarcil.
#include "cli/command_line.h"

int main(int argc, char** argv) {
  return tarcil::runCommandLine(argc, argv);
}
