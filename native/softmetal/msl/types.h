// Scalars and vectors of MSL. half and bfloat hold bits; arithmetic happens in float.
#ifndef SOFTMETAL_MSL_TYPES_H
#define SOFTMETAL_MSL_TYPES_H

typedef uint8_t uchar;
typedef uint16_t ushort;
typedef uint32_t uint;
typedef uint64_t ulong;

template <typename To, typename From>
inline To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

// IEEE binary16, rounding to nearest even.
struct half {
  ushort bits;

  half() = default;
  explicit half(float value) : bits(from(value)) {}
  operator float() const { return to(bits); }

  static float to(ushort h) {
    const uint magnitude = uint(h & 0x7FFFu) << 13;
    const float scaled = as_type<float>(magnitude) * 0x1p112f; // rebias; exact for subnormals too
    const uint special = magnitude >= 0x0F800000u ? 0x7F800000u : 0u;
    return as_type<float>(as_type<uint>(scaled) | special | uint(h & 0x8000u) << 16);
  }

  static ushort from(float value) {
    const uint bits = as_type<uint>(value);
    const uint sign = bits >> 16 & 0x8000u;
    const uint magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
      return ushort(sign | 0x7E00u);
    }
    if (magnitude >= 0x477FF000u) { // 65520, halfway past the largest half, and above
      return ushort(sign | 0x7C00u);
    }
    if (magnitude < 0x38800000u) { // subnormal: adding 0.5 leaves the bits of a multiple of 2^-24
      return ushort(sign | (as_type<uint>(as_type<float>(magnitude) + 0.5f) - 0x3F000000u));
    }
    const uint odd = magnitude >> 13 & 1u;
    return ushort(sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13));
  }
};

// The high half of a float, rounding to nearest even.
struct bfloat {
  ushort bits;

  bfloat() = default;
  explicit bfloat(float value) : bits(from(value)) {}
  operator float() const { return as_type<float>(uint(bits) << 16); }

  static ushort from(float value) {
    const uint bits = as_type<uint>(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
      return ushort(bits >> 16 | 0x40u);
    }
    return ushort((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  }
};

struct half2 {
  half x, y;
};

struct float2 {
  float x, y;
  float2() = default;
  explicit float2(half2 v) : x(v.x), y(v.y) {}
};

// Copying one reads all of it at once: the simulator must see that, not small reads.
#if SIMD_WIDTH == 1
#define SOFTMETAL_WHOLE_READ(type, assign)
#else
#define SOFTMETAL_WHOLE_READ(type, assign)   \
  SOFTMETAL_UNCHECKED type(const type &v) {  \
    softmetal_simulator_read(&v, sizeof(v)); \
    assign;                                  \
  }
#endif

struct alignas(8) uint2 {
  uint x, y;
  SOFTMETAL_WHOLE_READ(uint2, (x = v.x, y = v.y))
};

struct alignas(16) uint4 {
  uint x, y, z, w;
  SOFTMETAL_WHOLE_READ(uint4, (x = v.x, y = v.y, z = v.z, w = v.w))
};

struct uint3 {
  uint x, y, z;
};

#endif
