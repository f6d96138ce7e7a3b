#include "arrays.h"

#include <math.h>
#include <string.h>

enum { QUERIES, KEYS, VALUES, TABLE, DEPENDENCY, OUT };

static const uint64_t FILLED = 1 << 18;     /* longer arrays stay zeros */
static const uint64_t ROOM = 16ull << 30;   /* for one array */
static const uint64_t WORK = 1 << 19;       /* query_heads * tokens * head_dim */
static const uint32_t MOST_ROWS = 1 << 13;  /* query_heads * blocks: threadgroups */

static uint64_t element_size(pagedrt_dtype dtype) {
  return dtype == PAGEDRT_FLOAT32 ? 4 : 2;
}

pagedrt_geometry choose_geometry(session *s) {
  static const float scales[] = {0.125f, 1, 1e-30f, 1e4f, 1e-45f, 0, -1, NAN, INFINITY};
  input *in = &s->in;
  uint32_t kv_heads = 1 + below(in, 4), factor = 1 + below(in, 9);
  uint32_t head_dim = take(in) < 176 ? 32 + 32 * below(in, 8) : 1 + below(in, 512);
  pagedrt_geometry g = {.kv_heads = or_any(in, kv_heads)};
  g.query_heads = or_any(in, g.kv_heads * factor);
  g.head_dim = or_any(in, head_dim);
  g.page_size = or_any(in, 1 + below(in, 18));
  g.dtype = (pagedrt_dtype)or_any(in, below(in, 3));
  g.scale = scales[odd_one(in) ? below(in, 9) : below(in, 5)];
  return g;
}

pagedrt_layout choose_layout(session *s) {
  input *in = &s->in;
  pagedrt_layout layout = {.blocks = below(in, 12)};
  layout.blocks = odd_one(in) ? below(in, 1026) : or_any(in, layout.blocks);
  if (odd_one(in)) {
    layout.heads = or_any(in, below(in, 9));
    layout.simdgroups = or_any(in, below(in, 3));
  }
  return layout;
}

static void choose_lengths(attempt *a) {
  const pagedrt_geometry *g = &a->geometry;
  unsigned __int128 row = (unsigned __int128)g->head_dim * element_size(g->dtype);
  unsigned __int128 pages = row * g->page_size; /* under 2^70: times kv_heads and capacity it may wrap */
  a->lengths[QUERIES] = a->lengths[OUT] = row * g->query_heads;
  bool wraps = __builtin_mul_overflow(pages, (unsigned __int128)g->kv_heads, &pages) ||
               __builtin_mul_overflow(pages, (unsigned __int128)a->call.page_capacity, &pages);
  a->lengths[KEYS] = a->lengths[VALUES] = wraps ? ~(unsigned __int128)0 : pages;
  a->lengths[TABLE] = (unsigned __int128)a->call.page_table_length * 4;
  a->lengths[DEPENDENCY] = 4;
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void fill_numbers(session *s, void *pointer, size_t length, pagedrt_dtype dtype) {
  uint32_t state = take(&s->in), kind = take(&s->in);
  if (length > FILLED) return;
  uint8_t *bytes = pointer;
  if (kind >= 224) { /* any bits: NaN, infinities, denormals */
    for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)next_random(&state);
  } else if (dtype == PAGEDRT_FLOAT32) {
    for (size_t i = 0; i + 4 <= length; i += 4) {
      float value = (float)(next_random(&state) & 0xFFFF) / 16384 - 2;
      memcpy(bytes + i, &value, 4);
    }
  } else { /* both 16-bit types: a sign, numbers from 2^-1 to 2 of float16, small ones of bfloat16 */
    for (size_t i = 0; i + 2 <= length; i += 2) {
      uint16_t bits = (uint16_t)(0x3800 + (next_random(&state) & 0x87FF));
      memcpy(bytes + i, &bits, 2);
    }
  }
}

static void fill_table(session *s, attempt *a, uint32_t *table) {
  uint32_t state = take(&s->in), capacity = a->call.page_capacity, count = a->call.page_table_length;
  bool any = odd_one(&s->in);
  uint32_t bad_at = odd_one(&s->in) ? take(&s->in) : UINT32_MAX, bad = bad_at != UINT32_MAX ? or_any(&s->in, capacity) : 0;
  for (uint32_t i = 0; i < count && i < FILLED / 4; i++) {
    uint32_t value = next_random(&state);
    if (!any && capacity > 0) value %= capacity;
    if (i == bad_at) value = bad;
    memcpy(&table[i], &value, 4);
  }
}

/* A place for one array: where lengths are beyond every device any memory will do, no byte may be read. */
static void *place(session *s, const attempt *a, int array, bool device_memory) {
  input *in = &s->in;
  unsigned kind = take(in);
  bool possible = a->lengths[array] <= ROOM;
  size_t length = possible ? (size_t)a->lengths[array] : 64;
  if (kind == 255) return NULL;
  if (kind == 254) return memory_exact(s, length, 1 + below(in, 3));
  if (kind == 253 && length > 0) return (void *)(UINTPTR_MAX - take(in) % length); /* addresses end before it does */
  pagedrt_buffer *buffer = NULL;
  if (possible && length > 0 && (device_memory || kind % 4 == 1)) {
    buffer = buffer_owned(s, length);
  } else if (possible && kind % 4 == 2) {
    size_t page = s->memory_page;
    void *memory = memory_guarded(s, array == OUT ? (length + page - 1) / page * page : length);
    if (memory != NULL && kind % 8 == 2) buffer_wrapped(s, memory, array == OUT ? (length + page - 1) / page * page : length, array == OUT);
    return memory;
  }
  if (buffer != NULL) return pagedrt_buffer_contents(buffer);
  return kind % 4 == 3 ? memory_guarded(s, length) : memory_exact(s, length, 0);
}

static bool writable_here(const void *pointer) {
  return pointer != NULL && (uintptr_t)pointer < UINTPTR_MAX / 2;
}

/* The call may be made if what it asks for, were it legal, fits in memory and ends soon. */
static bool affordable(const session *s, const attempt *a) {
  const pagedrt_geometry *g = &a->geometry;
  if (g->query_heads > MOST_ROWS || (uint64_t)g->query_heads * (a->layout.blocks <= 1024 ? a->layout.blocks : 0) > MOST_ROWS) return false;
  for (int i = 0; i < 6; i++) {
    if (a->lengths[i] > ROOM && a->lengths[i] <= s->max_buffer_length) return false;
  }
  return true;
}

static uint32_t choose_dependency(session *s, const attempt *a) {
  const pagedrt_geometry *g = &a->geometry;
  uint32_t context = a->call.context_tokens, shorter = take(&s->in);
  uint32_t tokens = or_any(&s->in, context - (context > shorter && shorter < 128 ? shorter : 0));
  uint64_t heads = (uint64_t)g->query_heads * g->head_dim;
  uint64_t most = heads > 0 ? WORK / heads : WORK;
  return tokens <= context && tokens > most ? (uint32_t)most : tokens;
}

bool choose_call(session *s, attempt *a, bool device_memory) {
  input *in = &s->in;
  const pagedrt_geometry *g = &a->geometry;
  pagedrt_call *call = &a->call;
  call->page_capacity = or_any(in, 1 + below(in, 12));
  call->page_table_length = or_any(in, 1 + below(in, 40));
  uint64_t slots = (uint64_t)call->page_table_length * g->page_size;
  uint32_t least = slots > 0 ? 1 : 0, most = slots < INT32_MAX ? (uint32_t)slots : INT32_MAX;
  call->context_tokens = or_any(in, most - (most > least ? below(in, most < 300 ? most : 300) : 0));
  choose_lengths(a);
  if (!affordable(s, a)) return false;
  void *pointers[6];
  for (int i = 0; i < 6; i++) pointers[i] = place(s, a, i, device_memory);
  a->out_is_own = !odd_one(in);
  if (!a->out_is_own) pointers[OUT] = pointers[below(in, 5)];
  for (int i = QUERIES; i <= VALUES; i++) {
    if (writable_here(pointers[i]) && a->lengths[i] <= ROOM) fill_numbers(s, pointers[i], (size_t)a->lengths[i], g->dtype);
  }
  if (writable_here(pointers[TABLE])) fill_table(s, a, pointers[TABLE]);
  uint32_t tokens = choose_dependency(s, a);
  if (writable_here(pointers[DEPENDENCY])) memcpy(pointers[DEPENDENCY], &tokens, 4);
  if (a->out_is_own && writable_here(pointers[OUT]) && a->lengths[OUT] <= FILLED) {
    memset(pointers[OUT], SENTINEL, (size_t)a->lengths[OUT]);
  }
  call->queries = pointers[QUERIES];
  call->key_pages = pointers[KEYS];
  call->value_pages = pointers[VALUES];
  call->page_table = pointers[TABLE];
  call->dependency = pointers[DEPENDENCY];
  call->out = pointers[OUT];
  return true;
}

static size_t untouched_bytes(const attempt *a, size_t from, size_t count) {
  const uint8_t *out = (const uint8_t *)a->call.out + from;
  size_t same = 0;
  while (same < count && out[same] == SENTINEL) same++;
  return same;
}

void check_outcome(const attempt *a, pagedrt_status status) {
  const pagedrt_call *call = &a->call;
  if (status != PAGEDRT_OK) {
    if (!a->out_is_own || !writable_here(call->out) || a->lengths[OUT] > FILLED) return;
    size_t length = (size_t)a->lengths[OUT], same = untouched_bytes(a, 0, length);
    EXPECT(same == length, "status %d, byte %zu of out is changed", status, same);
    return;
  }
  uint32_t tokens = *call->dependency, page_size = a->geometry.page_size;
  EXPECT(tokens <= call->context_tokens, "%u > %u", tokens, call->context_tokens);
  for (uint32_t i = 0; i < tokens / page_size + (tokens % page_size != 0); i++) {
    EXPECT(call->page_table[i] < call->page_capacity, "page_table[%u] = %u", i, call->page_table[i]);
  }
  size_t row = a->geometry.head_dim * element_size(a->geometry.dtype);
  for (uint32_t head = 0; a->out_is_own && row >= 16 && head < a->geometry.query_heads; head++) {
    EXPECT(untouched_bytes(a, head * row, row) < row, "head %u was not written", head);
  }
}
