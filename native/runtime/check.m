#include "check.h"

#include <math.h>

#include "errors.h"
#include "kernels.h"

const char *const array_names[ARRAYS] = {"queries", "key_pages", "value_pages", "page_table", "dependency", "out"};

pagedrt_status check_geometry(const pagedrt_geometry *geometry) {
  if (geometry == NULL) return error_set(PAGEDRT_INVALID_INPUT, "geometry: NULL, expected a geometry");
  if (geometry->query_heads == 0) return error_set(PAGEDRT_INVALID_INPUT, "query_heads: 0, expected at least 1");
  if (geometry->kv_heads == 0) return error_set(PAGEDRT_INVALID_INPUT, "kv_heads: 0, expected at least 1");
  if (geometry->query_heads % geometry->kv_heads != 0) {
    return error_set(PAGEDRT_INVALID_INPUT, "query_heads: %u, expected a multiple of kv_heads = %u", geometry->query_heads,
                     geometry->kv_heads);
  }
  if (geometry->head_dim == 0 || geometry->head_dim > PAGEDRT_MAX_HEAD_DIM) {
    return error_set(PAGEDRT_INVALID_INPUT, "head_dim: %u, expected 1 to %d", geometry->head_dim, PAGEDRT_MAX_HEAD_DIM);
  }
  if (geometry->page_size == 0) return error_set(PAGEDRT_INVALID_INPUT, "page_size: 0, expected at least 1");
  if (!dtype_known(geometry->dtype)) {
    return error_set(PAGEDRT_INVALID_INPUT, "dtype: %d, expected float32, float16 or bfloat16", (int)geometry->dtype);
  }
  if (!isfinite(geometry->scale) || geometry->scale <= 0) {
    return error_set(PAGEDRT_INVALID_INPUT, "scale: %g, expected a finite float32 above 0", (double)geometry->scale);
  }
  return PAGEDRT_OK;
}

static pagedrt_status check_blocks(const pagedrt_geometry *geometry, uint32_t blocks) {
  if (blocks == 0) return PAGEDRT_OK;
  if (blocks > PAGEDRT_MAX_BLOCKS) {
    return error_set(PAGEDRT_INVALID_INPUT, "blocks: %u, expected at most %d", blocks, PAGEDRT_MAX_BLOCKS);
  }
  uint32_t group_factor = geometry->query_heads / geometry->kv_heads;
  if (group_factor > PAGEDRT_MAX_PARTIAL_GROUP_FACTOR) {
    return error_set(PAGEDRT_INVALID_INPUT, "query_heads / kv_heads: %u, expected at most %d where blocks is not 0",
                     group_factor, PAGEDRT_MAX_PARTIAL_GROUP_FACTOR);
  }
  const char *function;
  return pagedrt_partial_function(geometry->head_dim, geometry->dtype, &function);
}

pagedrt_status check_layout(const pagedrt_geometry *geometry, const pagedrt_layout *layout) {
  pagedrt_status status = check_blocks(geometry, layout->blocks);
  if (status != PAGEDRT_OK) return status;
  uint32_t heads = layout->heads, group_factor = geometry->query_heads / geometry->kv_heads;
  if (heads > 8 || (heads & (heads - 1)) != 0) return error_set(PAGEDRT_INVALID_INPUT, "heads: %u, expected 0, 1, 2, 4 or 8", heads);
  if (heads / 2 >= group_factor) {
    return error_set(PAGEDRT_INVALID_INPUT, "heads: %u, expected less than twice the %u query heads a KV head", heads, group_factor);
  }
  return PAGEDRT_OK;
}

static bool product(size_t *total, size_t factor) {
  return !__builtin_mul_overflow(*total, factor, total);
}

static pagedrt_status check_arrays(const pagedrt_geometry *geometry, const pagedrt_call *call, call_arrays *arrays) {
  size_t element = dtype_size(geometry->dtype);
  size_t row = geometry->head_dim * element, pages = row;
  if (!product(&pages, geometry->kv_heads) || !product(&pages, geometry->page_size) || !product(&pages, call->page_capacity)) {
    return error_set(PAGEDRT_INVALID_INPUT, "key_pages: [%u, %u, %u, %u] has more bytes than there are addresses",
                     geometry->kv_heads, call->page_capacity, geometry->page_size, geometry->head_dim);
  }
  *arrays = (call_arrays){
    {call->queries, call->key_pages, call->value_pages, call->page_table, call->dependency, call->out},
    {row * geometry->query_heads, pages, pages, (size_t)call->page_table_length * sizeof(uint32_t), sizeof(uint32_t),
     row * geometry->query_heads},
  };
  for (int i = 0; i < ARRAYS; i++) {
    size_t alignment = i == ARRAY_PAGE_TABLE || i == ARRAY_DEPENDENCY ? sizeof(uint32_t) : element;
    uintptr_t start = (uintptr_t)arrays->pointers[i];
    if (start == 0) return error_set(PAGEDRT_INVALID_INPUT, "%s: NULL, expected an array", array_names[i]);
    if (start % alignment != 0) {
      return error_set(PAGEDRT_INVALID_INPUT, "%s: address %p, expected a multiple of the element size %zu", array_names[i],
                       arrays->pointers[i], alignment);
    }
    if (start > UINTPTR_MAX - arrays->lengths[i]) {
      return error_set(PAGEDRT_INVALID_INPUT, "%s: %p + %zu bytes runs past the address space", array_names[i],
                       arrays->pointers[i], arrays->lengths[i]);
    }
  }
  return PAGEDRT_OK;
}

static pagedrt_status check_overlap(const call_arrays *arrays) {
  uintptr_t out = (uintptr_t)arrays->pointers[ARRAY_OUT], out_end = out + arrays->lengths[ARRAY_OUT];
  for (int i = 0; i < ARRAY_INPUTS; i++) {
    uintptr_t start = (uintptr_t)arrays->pointers[i];
    if (start < out_end && out < start + arrays->lengths[i]) {
      return error_set(PAGEDRT_INVALID_INPUT, "out: overlaps %s, expected memory of its own", array_names[i]);
    }
  }
  return PAGEDRT_OK;
}

pagedrt_status check_call(const pagedrt_geometry *geometry, const pagedrt_call *call, call_arrays *arrays) {
  if (call == NULL) return error_set(PAGEDRT_INVALID_INPUT, "call: NULL, expected a call");
  if (call->context_tokens == 0 || call->context_tokens > PAGEDRT_MAX_TOKENS) {
    return error_set(PAGEDRT_INVALID_INPUT, "context_tokens: %u, expected 1 to %d", call->context_tokens, PAGEDRT_MAX_TOKENS);
  }
  if (call->page_capacity == 0) return error_set(PAGEDRT_INVALID_INPUT, "page_capacity: 0, expected at least 1");
  uint64_t tokens = (uint64_t)call->page_table_length * geometry->page_size;
  if (call->context_tokens > tokens) {
    return error_set(PAGEDRT_INVALID_INPUT,
                     "context_tokens: %u, expected at most page_table_length %u * page_size %u = %llu tokens",
                     call->context_tokens, call->page_table_length, geometry->page_size, (unsigned long long)tokens);
  }
  pagedrt_status status = check_arrays(geometry, call, arrays);
  return status == PAGEDRT_OK ? check_overlap(arrays) : status;
}

pagedrt_status check_contents(const pagedrt_geometry *geometry, const pagedrt_call *call) {
  uint32_t tokens = call->dependency[0];
  if (tokens > call->context_tokens) {
    return error_set(PAGEDRT_INVALID_INPUT, "dependency[0] = %u: expected at most context_tokens = %u", tokens,
                     call->context_tokens);
  }
  uint32_t used = tokens / geometry->page_size + (tokens % geometry->page_size != 0);
  for (uint32_t i = 0; i < used; i++) {
    if (call->page_table[i] >= call->page_capacity) {
      return error_set(PAGEDRT_INVALID_INPUT, "page_table[%u] = %u: expected a page below page_capacity = %u", i,
                       call->page_table[i], call->page_capacity);
    }
  }
  return PAGEDRT_OK;
}
