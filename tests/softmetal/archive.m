#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = P_tmpdir "/softmetal-archive-XXXXXX", file[sizeof path + 8]; /* a folder, and the file in it */

static NSURL *url(void) {
  return [NSURL fileURLWithPath:[NSString stringWithUTF8String:file]];
}

static id<MTLBinaryArchive> archive_of(id<MTLDevice> device, NSURL *place, NSError **error) {
  MTLBinaryArchiveDescriptor *descriptor = [[[MTLBinaryArchiveDescriptor alloc] init] autorelease];
  [descriptor setUrl:place];
  return [[device newBinaryArchiveWithDescriptor:descriptor error:error] autorelease];
}

static MTLComputePipelineDescriptor *described(id<MTLFunction> function, id<MTLBinaryArchive> archive) {
  MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
  [descriptor setComputeFunction:function];
  if (archive != nil) [descriptor setBinaryArchives:[NSArray arrayWithObject:archive]];
  return descriptor;
}

static bool holds(id<MTLDevice> device, id<MTLFunction> function, id<MTLBinaryArchive> archive, NSError **error) {
  return [[device newComputePipelineStateWithDescriptor:described(function, archive)
                                                options:MTLPipelineOptionFailOnBinaryArchiveMiss
                                             reflection:NULL
                                                  error:error] autorelease] != nil;
}

static id<MTLLibrary> library_of(id<MTLDevice> device) {
  return [[device newLibraryWithSource:[NSString stringWithUTF8String:TEST_SOURCE] options:nil error:NULL] autorelease];
}

static id<MTLFunction> with_constants(id<MTLDevice> device, uint32_t first) {
  MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
  uint16_t second = 2;
  [values setConstantValue:&first type:MTLDataTypeUInt atIndex:0];
  [values setConstantValue:&second type:MTLDataTypeUShort atIndex:1];
  return [[library_of(device) newFunctionWithName:@"constants" constantValues:values error:NULL] autorelease];
}

static void check_in_memory(id<MTLDevice> device) {
  NSError *error = nil;
  id<MTLFunction> function = [[library_of(device) newFunctionWithName:@"add"] autorelease];
  id<MTLBinaryArchive> archive = archive_of(device, nil, &error);
  CHECK("an empty archive is made", archive != nil && [archive device] == device);
  uint64_t before = softmetal_testing_pipelines_compiled();
  CHECK("it holds nothing", !holds(device, function, archive, &error) && [[error domain] isEqual:MTLBinaryArchiveDomain]);
  CHECK("and a miss compiles nothing", softmetal_testing_pipelines_compiled() == before);
  CHECK("unless it may", [[device newComputePipelineStateWithDescriptor:described(function, archive)
                                                                options:MTLPipelineOptionNone
                                                             reflection:NULL
                                                                  error:NULL] autorelease] != nil &&
                             softmetal_testing_pipelines_compiled() == before + 1);
  CHECK("a pipeline is added", [archive addComputePipelineFunctionsWithDescriptor:described(function, nil) error:&error]);
  CHECK("twice does no harm", [archive addComputePipelineFunctionsWithDescriptor:described(function, nil) error:&error]);
  CHECK("then it is found, and nothing compiled",
        holds(device, function, archive, NULL) && softmetal_testing_pipelines_compiled() == before + 1);
  CHECK("another function is not", !holds(device, [[library_of(device) newFunctionWithName:@"append"] autorelease], archive, NULL));
  CHECK("nil is not added", ![archive addComputePipelineFunctionsWithDescriptor:described(nil, nil) error:&error] &&
                                [error code] == MTLBinaryArchiveErrorUnexpectedElement);
  id<MTLDevice> other = test_device(1);
  CHECK("nor another device's function", ![archive addComputePipelineFunctionsWithDescriptor:described([[library_of(other)
                                             newFunctionWithName:@"add"] autorelease], nil) error:&error]);
  [other release];
}

static void check_file(id<MTLDevice> device) {
  NSError *error = nil;
  CHECK("a file that is not there is refused", archive_of(device, url(), &error) == nil &&
                                                    [error code] == MTLBinaryArchiveErrorInvalidFile && test_says(error, file));
  id<MTLBinaryArchive> archive = archive_of(device, nil, NULL);
  [archive addComputePipelineFunctionsWithDescriptor:described(with_constants(device, 1), nil) error:NULL];
  CHECK("an archive is written", [archive serializeToURL:url() error:&error]);
  archive = archive_of(device, url(), &error);
  CHECK("and read again", archive != nil && holds(device, with_constants(device, 1), archive, NULL));
  CHECK("constants tell pipelines apart", !holds(device, with_constants(device, 2), archive, NULL));
  [archive addComputePipelineFunctionsWithDescriptor:described(with_constants(device, 2), nil) error:NULL];
  CHECK("what was read is written with what was added", [archive serializeToURL:url() error:&error]);
  archive = archive_of(device, url(), &error);
  CHECK("both are there", holds(device, with_constants(device, 1), archive, NULL) && holds(device, with_constants(device, 2), archive, NULL));
  CHECK("a folder in the file's place is an error",
        ![archive serializeToURL:[NSURL fileURLWithPath:[NSString stringWithUTF8String:path]] error:&error] && error != nil);
  softmetal_testing_set_instruction_set("baseline");
  id<MTLDevice> other = test_device(1);
  softmetal_testing_set_instruction_set(NULL);
  softmetal_testing_set_archives_refused(true);
  CHECK("a device without archives makes none", archive_of(device, nil, &error) == nil && archive_of(device, url(), NULL) == nil);
  softmetal_testing_set_archives_refused(false);
  __builtin_cpu_init();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) CHECK("another instruction set's is refused", archive_of(other, url(), &error) == nil);
#endif
  [other release];
}

/* Every byte matters, and every length. */
static void check_damage(id<MTLDevice> device) {
  char bytes[1024];
  FILE *opened = fopen(file, "rb");
  size_t length = fread(bytes, 1, sizeof bytes, opened);
  fclose(opened);
  unsigned loaded = 0;
  for (size_t i = 0; i < 2 * length; i++) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    opened = fopen(file, "wb");
    if (i < length) bytes[i] ^= 0x20;
    fwrite(bytes, 1, i < length ? length : i - length, opened);
    if (i < length) bytes[i] ^= 0x20;
    fclose(opened);
    loaded += archive_of(device, url(), NULL) != nil;
    [pool release];
  }
  CHECK("a damaged file is refused", length > 100 && loaded == 0);
}

static void check_failures(id<MTLDevice> device) {
  id<MTLFunction> function = [[library_of(device) newFunctionWithName:@"add"] autorelease];
  id<MTLBinaryArchive> archive = archive_of(device, nil, NULL);
  NSError *error = nil;
  softmetal_testing_fail_call(1);
  CHECK("making one may fail", archive_of(device, nil, &error) == nil && error != nil);
  softmetal_testing_fail_call(1);
  CHECK("adding may", ![archive addComputePipelineFunctionsWithDescriptor:described(function, nil) error:&error]);
  softmetal_testing_fail_call(1);
  CHECK("looking into one may", !holds(device, function, archive, &error) && test_says(error, "for a test"));
  softmetal_testing_fail_call(1);
  CHECK("writing may", ![archive serializeToURL:url() error:&error] && test_says(error, "for a test"));
  softmetal_testing_fail_call(0);
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  if (mkdtemp(path) == NULL) return 1;
  snprintf(file, sizeof file, "%s/file", path);
  id<MTLDevice> device = test_device(1);
  check_in_memory(device);
  check_file(device);
  check_damage(device);
  check_failures(device);
  [device release];
  [pool release];
  CHECK("nothing is left behind", test_live_objects_fall_to(0));
  unlink(file);
  rmdir(path);
  return test_result();
}
