// From a kernel written in MSL to softmetal's kernel table. C++ does not see MSL's attributes, so
// parameters are bound by position: buffers in order, then THREAD_GEOMETRY.
#ifndef SOFTMETAL_MSL_BINDING_H
#define SOFTMETAL_MSL_BINDING_H

#include "types.h"

#define UNROLL
#define THREAD_GEOMETRY float *shared, uint3 group, uint lane, uint simdgroup, uint simdgroups

struct Library {
  softmetal_kernel kernels[128];
  softmetal_library table;
  uint32_t constant_mask;
};
static Library library;

// What FUNCTION_CONSTANT reads: those of the dispatch that this thread runs.
static thread_local const uint64_t *function_constants;

template <typename T, int INDEX>
struct FunctionConstant {
  FunctionConstant() { library.constant_mask |= 1u << INDEX; }
  SOFTMETAL_UNCHECKED operator T() const {
    T value;
    __builtin_memcpy(&value, &function_constants[INDEX], sizeof(value));
    return value;
  }
};
#define FUNCTION_CONSTANT(type, name, index) static const FunctionConstant<type, index> name;

template <typename P>
struct BufferArgument;
template <typename T>
struct BufferArgument<T *> {
  static T *of(void *pointer) { return static_cast<T *>(pointer); }
};
template <typename T>
struct BufferArgument<T &> {
  static T &of(void *pointer) { return *static_cast<T *>(pointer); }
};

template <auto FUNCTION, typename Signature>
struct Entry;
template <auto FUNCTION, typename... Parameters>
struct Entry<FUNCTION, void (*)(Parameters...)> {
  enum : uint { BUFFERS = sizeof...(Parameters) - 5 }; // less THREAD_GEOMETRY's

  template <size_t... I>
  SOFTMETAL_UNCHECKED static void call(const softmetal_thread *t, std::index_sequence<I...>) {
    using All = std::tuple<Parameters...>;
    function_constants = t->constants;
    const uint3 group = {t->threadgroup_position[0], t->threadgroup_position[1], t->threadgroup_position[2]};
    FUNCTION(BufferArgument<std::tuple_element_t<I, All>>::of(t->buffers[I])...,
             static_cast<float *>(t->threadgroup_memory), group, t->lane, t->simdgroup, t->simdgroups);
  }
  SOFTMETAL_UNCHECKED static void run(const softmetal_thread *t) { call(t, std::make_index_sequence<BUFFERS>()); }
};

template <auto FUNCTION>
struct Instance {
  explicit Instance(const char *name) {
    using E = Entry<FUNCTION, decltype(FUNCTION)>;
    library.kernels[library.table.kernel_count++] = {name, E::run, E::BUFFERS, library.constant_mask, 0};
  }
};
#define INSTANCE_NAMED(counter, host, ...) static const Instance<&__VA_ARGS__> instance_##counter(host);
#define INSTANCE_COUNTED(counter, host, ...) INSTANCE_NAMED(counter, host, __VA_ARGS__)
#define INSTANTIATE_KERNEL(host, ...) INSTANCE_COUNTED(__COUNTER__, host, __VA_ARGS__)

#endif
