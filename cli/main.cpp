#include <iostream>

#include "cli/run.h"

int main(int count, char** arguments) {
  return tocca::cli::run({arguments + 1, arguments + count}, std::cout, std::cerr);
}
