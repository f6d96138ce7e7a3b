/* Reads the K/V pages that a decode step reads, through the same table, on the same number of threads, and does
 * nothing else: the time no kernel can beat. Pages two ahead are asked for, as the kernels do. */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>

enum { MOST_THREADS = 64 };

typedef struct job {
  const char *keys, *values;
  const uint32_t *table;
  uint64_t kv_heads, capacity, pages, page_bytes, from, to;
  float total;
} job;

__attribute__((target("avx2"))) static void *read_pages(void *argument) {
  job *j = argument;
  __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
  for (uint64_t i = j->from; i < j->to; i++) {
    uint64_t head = i / j->pages, ahead = i + 2 < j->to ? i + 2 : i;
    uint64_t at = (head * j->capacity + j->table[i % j->pages]) * j->page_bytes;
    uint64_t next = (ahead / j->pages * j->capacity + j->table[ahead % j->pages]) * j->page_bytes;
    for (uint64_t b = 0; b < j->page_bytes; b += 128) {
      for (int half = 0; half < 2; half++) {
        const char *from = (half ? j->values : j->keys) + at + b;
        const char *coming = (half ? j->values : j->keys) + next + b;
        __builtin_prefetch(coming, 0, 2);
        __builtin_prefetch(coming + 64, 0, 2);
        for (int k = 0; k < 4; k++) {
          sums[k] = _mm256_xor_ps(sums[k], _mm256_loadu_ps((const float *)(from + 32 * k)));
        }
      }
    }
  }
  __m256 all = _mm256_xor_ps(_mm256_xor_ps(sums[0], sums[1]), _mm256_xor_ps(sums[2], sums[3]));
  j->total = all[0] + all[3];
  return 0;
}

static struct {
  pthread_barrier_t start, end;
  job jobs[MOST_THREADS];
} crew;

static void *work(void *argument) {
  for (;;) {
    pthread_barrier_wait(&crew.start);
    read_pages(argument);
    pthread_barrier_wait(&crew.end);
  }
  return 0;
}

void ceiling_start(int threads) {
  pthread_barrier_init(&crew.start, 0, (unsigned)threads);
  pthread_barrier_init(&crew.end, 0, (unsigned)threads);
  for (int t = 1; t < threads; t++) {
    pthread_t thread;
    pthread_create(&thread, 0, work, &crew.jobs[t]);
    pthread_detach(thread);
  }
}

float ceiling_read(const char *keys, const char *values, const uint32_t *table, uint64_t kv_heads, uint64_t capacity,
                   uint64_t pages, uint64_t page_bytes, int threads) {
  uint64_t all = kv_heads * pages;
  for (int t = 0; t < threads; t++) {
    crew.jobs[t] = (job){keys, values, table, kv_heads, capacity, pages, page_bytes, all * t / threads, all * (t + 1) / threads, 0};
  }
  if (threads > 1) pthread_barrier_wait(&crew.start);
  read_pages(&crew.jobs[0]);
  if (threads > 1) pthread_barrier_wait(&crew.end);
  return crew.jobs[0].total;
}
