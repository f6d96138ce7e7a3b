/* The shared object's face. Its kernels register here, not with libpagedrt: two objects that call into
 * each other could not be closed or loaded in any order. */
#include "simulator.h"

enum { MOST_LIBRARIES = 8 };
static const softmetal_library *libraries[MOST_LIBRARIES];
static softmetal_simulator simulator = {softmetal_simulator_run, libraries, 0};

void softmetal_register_library(const softmetal_library *library) {
  if (simulator.library_count < MOST_LIBRARIES) {
    libraries[simulator.library_count++] = library;
  }
}

const softmetal_simulator *softmetal_simulator_open(void) {
  return &simulator;
}
