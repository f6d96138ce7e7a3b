// CUDA entry points of the kernels: NVRTC finds them by name expression.
#define GEOMETRY shared, uint3{blockIdx.x, blockIdx.y, blockIdx.z}, threadIdx.x % 32, threadIdx.x / 32, blockDim.x / 32
extern __shared__ float shared[];

#if defined(LIBRARY_sdpa_one_pass)
template <typename T, int D>
__global__ void one_pass(const T *queries, const T *keys, const T *values, const uint *table, const uint *dependency,
                         T *out, atomic_uint *status, const __grid_constant__ pagedrt_arguments args) {
  sdpa_one_pass<T, D>(queries, keys, values, table, dependency, out, status, args, GEOMETRY);
}
#elif defined(LIBRARY_sdpa_partial)
template <typename T, int D>
__global__ void partial(const T *queries, const T *keys, const T *values, const uint *table, const uint *dependency,
                        float *partials, float *sums, float *maximums, const uint *barrier, atomic_uint *status,
                        const __grid_constant__ pagedrt_arguments args) {
  sdpa_partial<T, D>(queries, keys, values, table, dependency, partials, sums, maximums, barrier, status, args,
                     GEOMETRY);
}
#else
template <typename T>
__global__ void reduce(const float *partials, const float *sums, const float *maximums, T *out, atomic_uint *status,
                       const __grid_constant__ pagedrt_arguments args) {
  sdpa_reduce<T>(partials, sums, maximums, out, status, args, GEOMETRY);
}
#endif
