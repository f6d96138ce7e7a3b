// One wrong kernel for every rule that the simulator enforces while a kernel runs, and its right twin.
#include <metal_stdlib>
using namespace metal;

#include "dialect.h"

#define KERNEL(name) [[kernel]] void name(device uint *data [[buffer(0)]], device uint *other [[buffer(1)]], THREAD_GEOMETRY)
#define THREAD (simdgroup * SIMD_WIDTH + lane)
#define UNUSED (void)data, (void)other, (void)shared, (void)group, (void)lane, (void)simdgroup, (void)simdgroups

// data and other hold 64 words, shared 64; threadgroups have 64 threads.
KERNEL(read_past_end) {
  UNUSED;
  other[THREAD] = data[THREAD + 1];
}
KERNEL(read_to_end) {
  UNUSED;
  other[THREAD] = data[THREAD];
}

KERNEL(write_before_start) {
  UNUSED;
  *(data + THREAD - 1) = 1;
}
KERNEL(write_from_start) {
  UNUSED;
  data[THREAD] = 1;
}

KERNEL(read_misaligned) {
  UNUSED;
  const uint4 v = *reinterpret_cast<device const uint4 *>(data + 1);
  if (lane == 0 && simdgroup == 0) {
    other[0] = v.x;
  }
}
KERNEL(read_aligned) {
  UNUSED;
  const uint4 v = *reinterpret_cast<device const uint4 *>(data + 4);
  if (lane == 0 && simdgroup == 0) {
    other[0] = v.x;
  }
}

KERNEL(divergent_barrier) {
  UNUSED;
  if (lane < 16) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
KERNEL(uniform_barrier) {
  UNUSED;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

KERNEL(barrier_after_some_ended) {
  UNUSED;
  if (simdgroup == 1) {
    return;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
KERNEL(barrier_before_some_end) {
  UNUSED;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 1) {
    return;
  }
  data[THREAD] = 1;
}

KERNEL(divergent_shuffle) {
  UNUSED;
  if (lane != 7) {
    data[THREAD] = as_type<uint>(simd_shuffle_xor(1.0f, 1));
  }
}
KERNEL(uniform_shuffle) {
  UNUSED;
  const uint got = as_type<uint>(simd_shuffle_xor(1.0f, 1));
  if (lane != 7) {
    data[THREAD] = got;
  }
}

KERNEL(shuffle_masks_differ) {
  UNUSED;
  data[THREAD] = as_type<uint>(simd_shuffle_xor(1.0f, lane < 16 ? 1 : 2));
}
KERNEL(shuffle_masks_agree) {
  UNUSED;
  data[THREAD] = as_type<uint>(simd_shuffle_xor(1.0f, simdgroup == 0 ? 1 : 2));
}

KERNEL(threadgroup_never_written) {
  UNUSED;
  data[THREAD] = as_type<uint>(shared[THREAD]);
}
KERNEL(threadgroup_written) {
  UNUSED;
  shared[THREAD] = 1.0f;
  data[THREAD] = as_type<uint>(shared[THREAD]);
}

KERNEL(threadgroup_past_end) {
  UNUSED;
  shared[THREAD + 1] = 1.0f;
}
KERNEL(threadgroup_to_end) {
  UNUSED;
  shared[THREAD] = 1.0f;
}

KERNEL(threadgroup_race) {
  UNUSED;
  shared[THREAD] = 1.0f;
  data[THREAD] = as_type<uint>(shared[63 - THREAD]);
}
KERNEL(threadgroup_ordered) {
  UNUSED;
  shared[THREAD] = 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[THREAD] = as_type<uint>(shared[63 - THREAD]);
}

KERNEL(wrong_barrier_flag) {
  UNUSED;
  shared[THREAD] = 1.0f;
  threadgroup_barrier(mem_flags::mem_device);
  data[THREAD] = as_type<uint>(shared[63 - THREAD]);
}
KERNEL(right_barrier_flag) {
  UNUSED;
  data[THREAD] = 1;
  threadgroup_barrier(mem_flags::mem_device);
  other[THREAD] = data[63 - THREAD];
}

KERNEL(device_race) {
  UNUSED;
  data[THREAD] = 1;
  other[THREAD] = data[63 - THREAD];
}
KERNEL(device_ordered) {
  UNUSED;
  data[THREAD] = 1;
  threadgroup_barrier(mem_flags::mem_device);
  other[THREAD] = data[63 - THREAD];
}

// Run with two threadgroups: no barrier orders them.
KERNEL(race_across_threadgroups) {
  UNUSED;
  data[THREAD] = group.x;
}
KERNEL(apart_across_threadgroups) {
  UNUSED;
  if (THREAD < 32) {
    data[group.x * 32 + THREAD] = group.x;
  }
}

KERNEL(read_then_written_by_another_threadgroup) {
  UNUSED;
  if (group.x == 0) {
    other[THREAD] = data[THREAD];
  } else {
    data[THREAD] = 1;
  }
}
KERNEL(read_by_both_threadgroups) {
  UNUSED;
  if (THREAD < 32) {
    other[group.x * 32 + THREAD] = data[THREAD];
  }
}

KERNEL(atomic_and_plain) {
  UNUSED;
  if (THREAD == 0) {
    data[0] = 5;
  } else {
    atomic_fetch_min_explicit(reinterpret_cast<device atomic_uint *>(data), THREAD, memory_order_relaxed);
  }
}
KERNEL(atomic_only) {
  UNUSED;
  atomic_fetch_min_explicit(reinterpret_cast<device atomic_uint *>(data), THREAD, memory_order_relaxed);
}

// Run with one buffer bound twice.
KERNEL(write_through_alias) {
  UNUSED;
  other[THREAD] = 1;
}
KERNEL(read_through_alias) {
  UNUSED;
  shared[THREAD] = float(data[THREAD] + other[THREAD]);
}

INSTANTIATE_KERNEL("read_past_end", read_past_end)
INSTANTIATE_KERNEL("read_to_end", read_to_end)
INSTANTIATE_KERNEL("write_before_start", write_before_start)
INSTANTIATE_KERNEL("write_from_start", write_from_start)
INSTANTIATE_KERNEL("read_misaligned", read_misaligned)
INSTANTIATE_KERNEL("read_aligned", read_aligned)
INSTANTIATE_KERNEL("divergent_barrier", divergent_barrier)
INSTANTIATE_KERNEL("uniform_barrier", uniform_barrier)
INSTANTIATE_KERNEL("barrier_after_some_ended", barrier_after_some_ended)
INSTANTIATE_KERNEL("barrier_before_some_end", barrier_before_some_end)
INSTANTIATE_KERNEL("divergent_shuffle", divergent_shuffle)
INSTANTIATE_KERNEL("uniform_shuffle", uniform_shuffle)
INSTANTIATE_KERNEL("shuffle_masks_differ", shuffle_masks_differ)
INSTANTIATE_KERNEL("shuffle_masks_agree", shuffle_masks_agree)
INSTANTIATE_KERNEL("threadgroup_never_written", threadgroup_never_written)
INSTANTIATE_KERNEL("threadgroup_written", threadgroup_written)
INSTANTIATE_KERNEL("threadgroup_past_end", threadgroup_past_end)
INSTANTIATE_KERNEL("threadgroup_to_end", threadgroup_to_end)
INSTANTIATE_KERNEL("threadgroup_race", threadgroup_race)
INSTANTIATE_KERNEL("threadgroup_ordered", threadgroup_ordered)
INSTANTIATE_KERNEL("wrong_barrier_flag", wrong_barrier_flag)
INSTANTIATE_KERNEL("right_barrier_flag", right_barrier_flag)
INSTANTIATE_KERNEL("device_race", device_race)
INSTANTIATE_KERNEL("device_ordered", device_ordered)
INSTANTIATE_KERNEL("race_across_threadgroups", race_across_threadgroups)
INSTANTIATE_KERNEL("apart_across_threadgroups", apart_across_threadgroups)
INSTANTIATE_KERNEL("read_then_written_by_another_threadgroup", read_then_written_by_another_threadgroup)
INSTANTIATE_KERNEL("read_by_both_threadgroups", read_by_both_threadgroups)
INSTANTIATE_KERNEL("atomic_and_plain", atomic_and_plain)
INSTANTIATE_KERNEL("atomic_only", atomic_only)
INSTANTIATE_KERNEL("write_through_alias", write_through_alias)
INSTANTIATE_KERNEL("read_through_alias", read_through_alias)
