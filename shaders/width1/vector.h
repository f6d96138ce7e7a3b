// As many floats as the instruction set handles at once.
#ifndef PAGEDRT_SHADERS_WIDTH1_VECTOR_H
#define PAGEDRT_SHADERS_WIDTH1_VECTOR_H

#if defined(__AVX512F__)
#define VECTOR_FLOATS 16
#elif defined(__AVX2__)
#define VECTOR_FLOATS 8
#else
#define VECTOR_FLOATS 4
#endif

// A call would put the vectors it is given into memory.
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

// Before a loop over an array of vectors that must stay in registers: as a loop it would live in memory.
#define UNROLL_VECTORS _Pragma("GCC unroll 16")

typedef float Vector __attribute__((vector_size(4 * VECTOR_FLOATS)));
typedef float VectorAnywhere __attribute__((vector_size(4 * VECTOR_FLOATS), aligned(4), may_alias));
typedef uint32_t Bits __attribute__((vector_size(4 * VECTOR_FLOATS)));
typedef uint32_t BitsAnywhere __attribute__((vector_size(4 * VECTOR_FLOATS), aligned(2), may_alias));
typedef int32_t Lanes __attribute__((vector_size(4 * VECTOR_FLOATS)));
typedef uint16_t Halves __attribute__((vector_size(2 * VECTOR_FLOATS), aligned(2), may_alias));

static inline Vector load_vector(const float *from) {
  return *reinterpret_cast<const VectorAnywhere *>(from);
}

static inline void store_vector(float *to, Vector v) {
  *reinterpret_cast<VectorAnywhere *>(to) = v;
}

static inline Bits load_halves(const void *from) {
  return __builtin_convertvector(*static_cast<const Halves *>(from), Bits);
}

static inline Vector load_vector(const bfloat *from) {
  return (Vector)(load_halves(from) << 16);
}

static inline Vector load_vector(const half *from) {
#if defined(__AVX512F__)
  return (Vector)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
#elif defined(__AVX2__)
  return (Vector)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
#elif defined(__aarch64__)
  return (Vector)vcvt_f32_f16(vld1_f16(reinterpret_cast<const __fp16 *>(from)));
#else
  // Rebias the exponent by 2^112, which is exact for subnormals too; infinity and NaN keep theirs full.
  const Bits h = load_halves(from);
  const Bits magnitude = (h & 0x7FFFu) << 13;
  const Vector scaled = (Vector)magnitude * 0x1p112f;
  const Bits special = (Bits)(magnitude >= 0x0F800000u);
  return (Vector)((Bits)scaled | (special & 0x7F800000u) | ((h & 0x8000u) << 16));
#endif
}

// The first n < VECTOR_FLOATS elements; nothing past them is read.
template <typename T>
static inline Vector load_part(const T *from, int n) {
  T whole[VECTOR_FLOATS] = {};
  __builtin_memcpy(whole, from, n * sizeof(T));
  return load_vector(whole);
}

static inline void store_part(float *to, Vector v, int n) {
  __builtin_memcpy(to, &v, n * sizeof(float));
}

// Lane l of the result: a where bit STEP of l is clear, else b; plus its neighbour STEP lanes away.
template <int STEP>
ALWAYS_INLINE Vector fold(Vector a, Vector b) {
  Lanes own, other;
  for (int l = 0; l < VECTOR_FLOATS; ++l) {
    own[l] = (l & STEP) ? VECTOR_FLOATS + l : l;
    other[l] = (l & STEP) ? VECTOR_FLOATS + (l ^ STEP) : (l ^ STEP);
  }
  return __builtin_shuffle(a, b, own) + __builtin_shuffle(a, b, other);
}

// FIRST and the lanes after it of a and b in turn: a's, b's, a's next, ...
template <int FIRST>
ALWAYS_INLINE Vector interleaved(Vector a, Vector b) {
  Lanes from;
  for (int l = 0; l < VECTOR_FLOATS; ++l) {
    from[l] = FIRST + l / 2 + l % 2 * VECTOR_FLOATS;
  }
  return __builtin_shuffle(a, b, from);
}

template <int STEP>
struct Fold {
  ALWAYS_INLINE void all(Vector *v) {
    UNROLL_VECTORS
    for (int i = 0; i < STEP; ++i) {
      v[i] = fold<STEP>(v[i], v[i + STEP]);
    }
    Fold<STEP / 2>::all(v);
  }
};
template <>
struct Fold<0> {
  ALWAYS_INLINE void all(Vector *) {}
};

// Lane l of the result is the sum of v[l]'s lanes, for VECTOR_FLOATS vectors.
ALWAYS_INLINE Vector sums_of(Vector *v) {
  Fold<VECTOR_FLOATS / 2>::all(v);
  return v[0];
}

// Neighbours STEP lanes away change places.
template <int STEP>
static inline Vector swapped(Vector v) {
  Lanes other;
  for (int l = 0; l < VECTOR_FLOATS; ++l) {
    other[l] = l ^ STEP;
  }
  return __builtin_shuffle(v, other);
}

template <int STEP>
struct Across {
  static inline float highest(Vector v) {
    const Vector other = swapped<STEP>(v);
    return Across<STEP / 2>::highest(other > v ? other : v);
  }
  static inline float sum(Vector v) { return Across<STEP / 2>::sum(v + swapped<STEP>(v)); }
};
template <>
struct Across<0> {
  static inline float highest(Vector v) { return v[0]; }
  static inline float sum(Vector v) { return v[0]; }
};

static inline bool any_above(Vector v, float limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask((__m512)v, _mm512_set1_ps(limit), _CMP_GT_OQ) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps((__m256)(v > limit)) != 0;
#elif defined(__x86_64__)
  return _mm_movemask_ps((__m128)(v > limit)) != 0;
#else
  return Across<VECTOR_FLOATS / 2>::highest(v) > limit;
#endif
}

static inline Vector lane_numbers() {
  Vector numbers;
  for (int l = 0; l < VECTOR_FLOATS; ++l) {
    numbers[l] = float(l);
  }
  return numbers;
}

#endif
