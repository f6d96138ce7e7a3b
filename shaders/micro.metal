// What `python -m pagedrt bench --micro` times: one kind of work a kernel, all with the same arguments.
#include <metal_stdlib>
using namespace metal;

#include "dialect.h"
#include "instances.h"

#include "micro/barrier.h"
#include "micro/read.h"
#include "micro/simd_sum.h"

template <typename WORK>
[[kernel]] void micro(device const uint4 *memory [[buffer(0)]], device const uint *page_table [[buffer(1)]],
                      device uint *out [[buffer(2)]], constant pagedrt_micro_arguments &args [[buffer(3)]],
                      THREAD_GEOMETRY) {
  const Place place = {lane, simdgroup, simdgroups};
  WORK::run(memory, page_table, out, args, reinterpret_cast<threadgroup uint *>(shared), group, place);
}

#define X(name, work) INSTANTIATE_KERNEL(PAGEDRT_MICRO_NAME(name), micro<work>)
PAGEDRT_MICRO_INSTANCES(X)
#undef X
