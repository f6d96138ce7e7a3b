#include "execution/family.h"

#include <string.h>

const softmetal_family *softmetal_family_find(const char *name, const char **reason) {
  if (strcmp(name, softmetal_family_cpu.name) == 0) return &softmetal_family_cpu;
  if (strcmp(name, "simulator") == 0) return softmetal_family_simulator(reason);
  *reason = strcmp(name, "metal") == 0 ? "no Apple GPU on this machine: this build runs on softmetal; families here: cpu, simulator"
                                       : "no such family; families here: cpu, simulator";
  return NULL;
}
