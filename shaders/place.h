// Where a thread stands in its threadgroup.
#ifndef PAGEDRT_SHADERS_PLACE_H
#define PAGEDRT_SHADERS_PLACE_H

struct Place {
  uint lane;
  uint simdgroup;
  uint simdgroups;
};

#endif
