#ifndef SOFTMETAL_INSTRUCTION_SETS_H
#define SOFTMETAL_INSTRUCTION_SETS_H

/* What this CPU and its operating system can run, best first, NULL-terminated. */
const char *const *softmetal_instruction_sets(void);

#endif
