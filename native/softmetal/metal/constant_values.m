#include "metal/constant_values.h"

#include <string.h>

#include "kernel.h"

static NSUInteger scalar_size(MTLDataType type) {
  if (type >= MTLDataTypeFloat && type <= MTLDataTypeFloat4) return 4;
  if (type >= MTLDataTypeInt && type <= MTLDataTypeUInt4) return 4;
  if (type >= MTLDataTypeHalf && type <= MTLDataTypeHalf4) return 2;
  if (type >= MTLDataTypeShort && type <= MTLDataTypeUShort4) return 2;
  if (type >= MTLDataTypeBFloat && type <= MTLDataTypeBFloat4) return 2;
  if (type >= MTLDataTypeChar && type <= MTLDataTypeBool4) return 1;
  if (type == MTLDataTypeLong || type == MTLDataTypeULong) return 8;
  return 0;
}

/* The first type of each run of scalar, 2-, 3- and 4-vector. */
static NSUInteger components(MTLDataType type) {
  static const MTLDataType firsts[] = {
    MTLDataTypeFloat, MTLDataTypeHalf, MTLDataTypeInt, MTLDataTypeUInt, MTLDataTypeShort, MTLDataTypeUShort,
    MTLDataTypeChar, MTLDataTypeUChar, MTLDataTypeBool, MTLDataTypeBFloat,
  };
  for (unsigned i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
    if (type >= firsts[i] && type < firsts[i] + 4) return type - firsts[i] + 1;
  }
  return 1;
}

/* A vector of three takes the room of four. 0: no type that a kernel's table has room for. */
static NSUInteger size_of(MTLDataType type) {
  NSUInteger count = components(type), bytes = scalar_size(type) * (count == 3 ? 4 : count);
  return bytes <= sizeof(uint64_t) ? bytes : 0;
}

@implementation MTLFunctionConstantValues

- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index {
  if (index >= SOFTMETAL_CONSTANTS) return;
  NSUInteger bytes = size_of(type);
  values[index] = 0;
  unsupported[index] = bytes == 0 ? type : 0;
  if (bytes == 0 || value == NULL) {
    given &= ~(1u << index);
    return;
  }
  memcpy(&values[index], value, bytes);
  given |= 1u << index;
}

- (uint32_t)copyInto:(uint64_t *)constants {
  memcpy(constants, values, sizeof values);
  return given;
}

- (MTLDataType)unsupportedAtIndex:(NSUInteger)index {
  return unsupported[index];
}

@end
