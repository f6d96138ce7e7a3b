// A CPU has one address space. shaders/ are checked against Metal's real ones by the MSL lint.
#ifndef SOFTMETAL_MSL_ADDRESS_SPACES_H
#define SOFTMETAL_MSL_ADDRESS_SPACES_H

#define device
#define thread
#define threadgroup
#define constant const

#endif
