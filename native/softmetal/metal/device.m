#define _GNU_SOURCE
#include "metal/device.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "execution/fork.h"
#include "execution/thread.h"
#include "hooks.h"
#include "metal/binary_archive.h"
#include "metal/buffer.h"
#include "metal/command_queue.h"
#include "metal/library.h"
#include "metal/metallib.h"
#include "metal/pipeline.h"
#include "metal/shared_event.h"

enum { DEFAULT_COMMAND_BUFFERS = 64 };

static uint64_t physical_memory(void) {
  return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Memory that callers bring may be mapped and never touched, so the machine's is no limit on it. */
static NSUInteger default_max_buffer_length(void) {
  const uint64_t least = 64ull << 30;
  uint64_t memory = physical_memory();
  return memory > least ? memory : least;
}

/* Where a machine has more than a cpu_set_t holds, that is many enough. */
static uint32_t cores(void) {
  cpu_set_t allowed;
  int count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > MAX_WORKERS ? MAX_WORKERS : (uint32_t)count;
}

static const char *const *pick_instruction_sets(const softmetal_family *family) {
  const char *const *sets = family->instruction_sets();
  const char *best = softmetal_hook_instruction_set();
  if (best == NULL) return sets;
  while (*sets != NULL && strcmp(*sets, best) != 0) sets++;
  return *sets != NULL ? sets : NULL;
}

SoftmetalDevice *softmetal_device_open(const char *name, uint32_t threads, const char **reason) {
  const softmetal_family *family = softmetal_family_find(name, reason);
  if (family == NULL) return nil;
  if (softmetal_forked) {
    *reason = "this process was forked after its parent opened a device";
    return nil;
  }
  const char *const *sets = pick_instruction_sets(family);
  if (sets == NULL) {
    *reason = "this CPU lacks the instruction set asked for";
    return nil;
  }
  softmetal_fork_watch();
  SoftmetalDevice *device = [[SoftmetalDevice alloc] init];
  if (device != nil) device->team = softmetal_workers_create(family, threads != 0 ? threads : cores());
  if (device == nil || device->team == NULL) {
    *reason = "no memory or threads for its workers";
    [device release];
    return nil;
  }
  uint64_t buffer_limit = softmetal_hook_max_buffer_length();
  uint32_t thread_limit = softmetal_hook_max_threads();
  const char *device_name = softmetal_hook_device_name();
  device->family = family;
  device->name = device_name != NULL ? device_name : family->device_name;
  device->instruction_sets = sets;
  device->maxBufferLength = buffer_limit != 0 ? buffer_limit : default_max_buffer_length();
  device->maxThreads = thread_limit != 0 && thread_limit < family->max_threads ? thread_limit : family->max_threads;
  return device;
}

id<MTLDevice> MTLCreateSystemDefaultDevice(void) {
  const char *reason;
  return softmetal_device_open("cpu", 0, &reason);
}

NSArray *MTLCopyAllDevices(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id device = [MTLCreateSystemDefaultDevice() autorelease];
  NSArray *devices = [[NSArray arrayWithObjects:&device count:device != nil ? 1 : 0] retain];
  [pool release];
  return devices;
}

@implementation SoftmetalDevice

- (void)dealloc {
  if (team != NULL) softmetal_workers_destroy(team);
  [super dealloc];
}

- (NSString *)name {
  return [NSString stringWithUTF8String:name];
}

- (MTLSize)maxThreadsPerThreadgroup {
  return MTLSizeMake(maxThreads, maxThreads, maxThreads < 64 ? maxThreads : 64);
}

- (NSUInteger)maxThreadgroupMemoryLength {
  return THREADGROUP_MEMORY;
}

- (NSUInteger)maxBufferLength {
  return maxBufferLength;
}

- (uint64_t)recommendedMaxWorkingSetSize {
  return physical_memory() / 4 * 3;
}

- (id<MTLCommandQueue>)newCommandQueue {
  uint32_t limit = softmetal_hook_max_command_buffers();
  return softmetal_command_queue_new(self, limit != 0 ? limit : DEFAULT_COMMAND_BUFFERS);
}

- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount {
  return softmetal_command_queue_new(self, maxCommandBufferCount);
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return softmetal_buffer_new(self, length, options);
}

- (id<MTLBuffer>)newBufferWithBytes:(const void *)pointer length:(NSUInteger)length options:(MTLResourceOptions)options {
  SoftmetalBuffer *buffer = pointer != NULL ? softmetal_buffer_new(self, length, options) : nil;
  if (buffer != nil) memcpy(buffer->pointer, pointer, length);
  return buffer;
}

- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void *)deallocator {
  return deallocator == NULL ? softmetal_buffer_wrap(self, pointer, length, options) : nil;
}

- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error {
  return softmetal_metallib_open(self, url, error);
}

- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error {
  return softmetal_library_new(self, source, options, error);
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction error:(NSError **)error {
  return softmetal_pipeline_new(self, computeFunction, error);
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                                               error:(NSError **)error {
  return reflection == NULL ? softmetal_pipeline_described(self, descriptor, options, error) : nil;
}

- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor error:(NSError **)error {
  return softmetal_binary_archive_new(self, descriptor, error);
}

- (id<MTLSharedEvent>)newSharedEvent {
  return softmetal_shared_event_new(self);
}

@end
