#include <metal_stdlib>
using namespace metal;

inline float even(uint n);
inline float odd(uint n) { // rejected: recursion: odd: calls itself
  return n == 0 ? 0.0f : even(n - 1);
}
inline float even(uint n) { // rejected: recursion: even: calls itself
  return n == 0 ? 1.0f : odd(n - 1);
}
template <typename T>
inline T factorial(T n) { // rejected: recursion: factorial: calls itself
  return n < 2 ? n : n * factorial<T>(n - 1);
}
template <typename T>
struct Counter {
  uint down(T n) { return n == T(0) ? 0u : down(n - T(1)); } // rejected: recursion: down: calls itself
};
[[kernel]] void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  Counter<uint> counter;
  x[i] = odd(i) + float(factorial(i)) + float(counter.down(i));
}
