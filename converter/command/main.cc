#include <string>
#include <vector>

#include "converter/command/commands.h"

int main(int argc, char** argv) {
  return oom_forensics::RunCommand(
      std::vector<std::string>(argv + 1, argv + argc));
}
