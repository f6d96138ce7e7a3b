#ifndef SOFTMETAL_CONSTANT_VALUES_H
#define SOFTMETAL_CONSTANT_VALUES_H

#import <Metal/Metal.h>

@interface MTLFunctionConstantValues (Softmetal)
/* The mask of those that have a value; `constants` has room for 16. */
- (uint32_t)copyInto:(uint64_t *)constants;
/* The type that a constant without a value was given as, or 0. */
- (MTLDataType)unsupportedAtIndex:(NSUInteger)index;
@end

#endif
