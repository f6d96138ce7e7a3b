#import <Metal/Metal.h>

@implementation MTLComputePipelineDescriptor

- (void)dealloc {
  [computeFunction release];
  [binaryArchives release];
  [super dealloc];
}

- (id<MTLFunction>)computeFunction {
  return computeFunction;
}

- (void)setComputeFunction:(id<MTLFunction>)function {
  [function retain];
  [computeFunction release];
  computeFunction = function;
}

- (NSArray *)binaryArchives {
  return binaryArchives;
}

- (void)setBinaryArchives:(NSArray *)archives {
  [archives retain];
  [binaryArchives release];
  binaryArchives = archives;
}

@end
