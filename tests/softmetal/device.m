#include "support.h"

#include <string.h>

#include "platform.h"

static const char *reason_for(const char *family, uint32_t threads) {
  uint32_t used;
  const char *instruction_set, *reason = "";
  id<MTLDevice> device = pagedrt_platform_device(family, threads, &used, &instruction_set, &reason);
  [device release];
  return device == nil ? reason : "opened";
}

static void check_families(void) {
  CHECK("metal says why not", strstr(reason_for("metal", 0), "no Apple GPU on this machine") != NULL);
  CHECK("a simulator that is not beside the library says so", strstr(reason_for("simulator", 0), "cannot load libpagedrt_simulator.so") != NULL);
  CHECK("an unknown family says so", strstr(reason_for("vulkan", 0), "no such family") != NULL);
  CHECK("families are listed", strcmp(pagedrt_platform_families[0], "cpu") == 0 && strcmp(pagedrt_platform_families[1], "simulator") == 0 &&
                                   pagedrt_platform_families[2] == NULL);
}

static void check_limits(void) {
  id<MTLDevice> device = test_device(2);
  MTLSize threads = [device maxThreadsPerThreadgroup];
  CHECK("a threadgroup is one thread", threads.width == 1 && threads.height == 1 && threads.depth == 1);
  CHECK("threadgroup memory", [device maxThreadgroupMemoryLength] == 32768);
  CHECK("buffer length", [device maxBufferLength] >= 64ull << 30);
  CHECK("working set", [device recommendedMaxWorkingSetSize] > 0);
  CHECK("name", [[device name] hasPrefix:@"softmetal"]);
  [device release];
  softmetal_testing_set_max_buffer_length(1 << 20);
  device = test_device(1);
  softmetal_testing_set_max_buffer_length(0);
  CHECK("a test's buffer limit", [device maxBufferLength] == 1 << 20);
  [device release];
}

static void check_discovery(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  CHECK("the default device", [device conformsToProtocol:@protocol(MTLDevice)]);
  [device release];
  NSArray *devices = MTLCopyAllDevices();
  CHECK("all devices", [devices count] == 1 && [[devices objectAtIndex:0] conformsToProtocol:@protocol(MTLDevice)]);
  [devices release];
}

static void check_instruction_sets(void) {
  softmetal_testing_set_instruction_set("nonesuch");
  CHECK("an instruction set that the CPU lacks is refused", strstr(reason_for("cpu", 1), "instruction set") != NULL);
  softmetal_testing_set_instruction_set("baseline");
  uint32_t used;
  const char *instruction_set, *reason;
  id<MTLDevice> device = pagedrt_platform_device("cpu", 1, &used, &instruction_set, &reason);
  CHECK("baseline can be asked for", device != nil && strcmp(instruction_set, "baseline") == 0);
  [device release];
  softmetal_testing_set_instruction_set(NULL);
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  check_families();
  check_limits();
  check_discovery();
  check_instruction_sets();
  [pool release];
  return test_result();
}
