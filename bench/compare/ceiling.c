/* The limits of this machine: how fast the very same pages can be read through their table, and how
 * many fused multiply-adds it does. Kernels for what the CPU has are taken at run time. */
#include <pthread.h>
#include <stdint.h>
#include <stddef.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef struct pages {
  const char *pools[2];          /* [heads][capacity][page_bytes] */
  const uint32_t *table;
  size_t heads, capacity, page_bytes, length; /* of the table */
} pages;

enum { FMA_CHAINS = 12 };

typedef uint64_t (*read_page)(const char *page, const char *next, size_t bytes);
typedef float (*multiply)(uint64_t rounds);

static uint64_t read_plain(const char *page, const char *next, size_t bytes) {
  uint64_t sums[4] = {0, 0, 0, 0};
  for (size_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(next + i);
    const uint64_t *words = (const uint64_t *)(page + i);
    for (int j = 0; j < 8; j++) sums[j & 3] += words[j];
  }
  return sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
}

static float multiply_plain(uint64_t rounds) {
  typedef float vector __attribute__((vector_size(16)));
  vector sums[FMA_CHAINS], factor = {0.5f, 0.5f, 0.5f, 0.5f};
  for (int j = 0; j < FMA_CHAINS; j++) sums[j] = factor * (float)(j + 1);
  for (uint64_t i = 0; i < rounds; i++)
    for (int j = 0; j < FMA_CHAINS; j++) sums[j] = sums[j] * factor + factor;
  float total = 0;
  for (int j = 0; j < FMA_CHAINS; j++) total += sums[j][0];
  return total;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t read_avx2(const char *page, const char *next, size_t bytes) {
  __m256i a = _mm256_setzero_si256(), b = a;
  for (size_t i = 0; i < bytes; i += 64) {
    _mm_prefetch(next + i, _MM_HINT_T0);
    a = _mm256_add_epi64(a, _mm256_loadu_si256((const __m256i *)(page + i)));
    b = _mm256_add_epi64(b, _mm256_loadu_si256((const __m256i *)(page + i + 32)));
  }
  uint64_t words[4];
  _mm256_storeu_si256((__m256i *)words, _mm256_add_epi64(a, b));
  return words[0] ^ words[1] ^ words[2] ^ words[3];
}

__attribute__((target("avx512f"))) static uint64_t read_avx512(const char *page, const char *next, size_t bytes) {
  __m512i a = _mm512_setzero_si512(), b = a;
  size_t i = 0;
  for (; i + 128 <= bytes; i += 128) {
    _mm_prefetch(next + i, _MM_HINT_T0);
    _mm_prefetch(next + i + 64, _MM_HINT_T0);
    a = _mm512_add_epi64(a, _mm512_loadu_si512(page + i));
    b = _mm512_add_epi64(b, _mm512_loadu_si512(page + i + 64));
  }
  for (; i < bytes; i += 64) a = _mm512_add_epi64(a, _mm512_loadu_si512(page + i));
  return (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(a, b));
}

__attribute__((target("avx2,fma"))) static float multiply_avx2(uint64_t rounds) {
  __m256 sums[FMA_CHAINS], factor = _mm256_set1_ps(0.5f);
  for (int j = 0; j < FMA_CHAINS; j++) sums[j] = _mm256_set1_ps((float)(j + 1));
  for (uint64_t i = 0; i < rounds; i++)
#pragma GCC unroll 12
    for (int j = 0; j < FMA_CHAINS; j++) sums[j] = _mm256_fmadd_ps(sums[j], factor, factor);
  float total = 0;
  for (int j = 0; j < FMA_CHAINS; j++) total += _mm256_cvtss_f32(sums[j]);
  return total;
}

__attribute__((target("avx512f"))) static float multiply_avx512(uint64_t rounds) {
  __m512 sums[FMA_CHAINS], factor = _mm512_set1_ps(0.5f);
  for (int j = 0; j < FMA_CHAINS; j++) sums[j] = _mm512_set1_ps((float)(j + 1));
  for (uint64_t i = 0; i < rounds; i++)
#pragma GCC unroll 12
    for (int j = 0; j < FMA_CHAINS; j++) sums[j] = _mm512_fmadd_ps(sums[j], factor, factor);
  float total = 0;
  for (int j = 0; j < FMA_CHAINS; j++) total += _mm512_cvtss_f32(sums[j]);
  return total;
}
#endif

static int level(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 2;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
#endif
  return 0;
}

static read_page reader(void) {
#if defined(__x86_64__)
  static const read_page readers[] = {read_plain, read_avx2, read_avx512};
  return readers[level()];
#else
  return read_plain;
#endif
}

static multiply multiplier(void) {
#if defined(__x86_64__)
  static const multiply multipliers[] = {multiply_plain, multiply_avx2, multiply_avx512};
  return multipliers[level()];
#else
  return multiply_plain;
#endif
}

/* --- threads that wait for the next round by spinning, as long as a run lasts ----------------- */

enum { MOST_THREADS = 64 };

typedef struct crew {
  unsigned threads, go, done;
  const pages *reads; /* NULL: multiply */
  uint64_t rounds;
  unsigned stop;
} crew;

typedef struct member {
  crew *crew;
  unsigned index;
  uint64_t sum;
} member;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void do_share(member *self) {
  const crew *crew = self->crew;
  const pages *reads = crew->reads;
  if (reads == NULL) {
    self->sum += (uint64_t)multiplier()(crew->rounds);
    return;
  }
  read_page read = reader();
  size_t total = reads->heads * reads->length;
  size_t from = total * self->index / crew->threads, to = total * (self->index + 1) / crew->threads;
  for (int pool = 0; pool < 2; pool++) {
    for (size_t i = from; i < to; i++) {
      size_t next = i + 1 < to ? i + 1 : i;
      const char *head = reads->pools[pool] + i / reads->length * reads->capacity * reads->page_bytes;
      const char *next_head = reads->pools[pool] + next / reads->length * reads->capacity * reads->page_bytes;
      self->sum += read(head + reads->table[i % reads->length] * reads->page_bytes,
                        next_head + reads->table[next % reads->length] * reads->page_bytes, reads->page_bytes);
    }
  }
}

static void *follow(void *argument) {
  member *self = argument;
  crew *crew = self->crew;
  for (unsigned round = 1;; round++) {
    while (__atomic_load_n(&crew->go, __ATOMIC_ACQUIRE) < round) {
      if (__atomic_load_n(&crew->stop, __ATOMIC_ACQUIRE)) return NULL;
    }
    do_share(self);
    __atomic_fetch_add(&crew->done, 1, __ATOMIC_RELEASE);
  }
}

/* Runs each job of `count` in turn until `seconds` have gone; times in `nanoseconds`, at most `most`.
 * Returns how many runs there were. */
static size_t measure(crew *crew, const pages *reads, size_t count, double seconds, uint64_t *nanoseconds, size_t most) {
  member members[MOST_THREADS];
  pthread_t ids[MOST_THREADS];
  if (crew->threads < 1 || crew->threads > MOST_THREADS) return 0;
  unsigned started = 1;
  for (unsigned i = 0; i < crew->threads; i++) members[i] = (member){crew, i, 0};
  while (started < crew->threads && pthread_create(&ids[started], NULL, follow, &members[started]) == 0) started++;
  size_t runs = 0;
  uint64_t until = now() + (uint64_t)(seconds * 1e9);
  while (started == crew->threads && runs < most && (runs == 0 || now() < until)) {
    crew->reads = count > 0 ? &reads[runs % count] : NULL;
    __atomic_store_n(&crew->done, 0, __ATOMIC_RELAXED);
    uint64_t begin = now();
    __atomic_fetch_add(&crew->go, 1, __ATOMIC_RELEASE);
    do_share(&members[0]);
    while (__atomic_load_n(&crew->done, __ATOMIC_ACQUIRE) < crew->threads - 1) continue;
    nanoseconds[runs++] = now() - begin;
  }
  __atomic_store_n(&crew->stop, 1, __ATOMIC_RELEASE);
  for (unsigned i = 1; i < started; i++) pthread_join(ids[i], NULL);
  volatile uint64_t sink = 0;
  for (unsigned i = 0; i < crew->threads; i++) sink += members[i].sum;
  return runs;
}

/* Reads caches one after another through their table. */
size_t ceiling_read(const pages *caches, size_t count, unsigned threads, double seconds, uint64_t *nanoseconds, size_t most) {
  crew crew = {.threads = threads};
  return measure(&crew, caches, count, seconds, nanoseconds, most);
}

/* Of one run of ceiling_multiply and one thread: float multiply-adds. */
uint64_t ceiling_multiplications(uint64_t rounds) {
  static const uint64_t lanes[] = {4, 8, 16};
  return rounds * FMA_CHAINS * lanes[level()];
}

size_t ceiling_multiply(uint64_t rounds, unsigned threads, double seconds, uint64_t *nanoseconds, size_t most) {
  crew crew = {.threads = threads, .rounds = rounds};
  return measure(&crew, NULL, 0, seconds, nanoseconds, most);
}

const char *ceiling_instruction_set(void) {
  static const char *const names[] = {"baseline", "avx2", "avx512"};
  return names[level()];
}
