#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool made(id<MTLBuffer> buffer) {
  [buffer release];
  return buffer != nil;
}

static void check_lengths(id<MTLDevice> device) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  id<MTLBuffer> small = test_buffer(device, 5), large = test_buffer(device, (4 << 20) + 1);
  CHECK("length is what was asked for", [small length] == 5 && [large length] == (4 << 20) + 1);
  CHECK("page-aligned", (uintptr_t)[small contents] % page == 0);
  CHECK("large ones lie where huge pages can", (uintptr_t)[large contents] % (2 << 20) == 0);
  memset([large contents], 1, [large length]);
  [small release];
  [large release];
  CHECK("length 0 is refused", ![device newBufferWithLength:0 options:0]);
  CHECK("more than maxBufferLength is refused", ![device newBufferWithLength:[device maxBufferLength] + 1 options:0]);
  CHECK("more than the machine has is refused", ![device newBufferWithLength:NSUIntegerMax options:0]);
}

static void check_options(id<MTLDevice> device) {
  id<MTLBuffer> hidden = [device newBufferWithLength:64 options:MTLResourceStorageModePrivate];
  CHECK("private storage shows no contents", hidden != nil && [hidden contents] == NULL && [hidden storageMode] == MTLStorageModePrivate);
  [hidden release];
  CHECK("untracked shared storage", made([device newBufferWithLength:64 options:MTLResourceHazardTrackingModeUntracked]));
  CHECK("memoryless storage is refused", ![device newBufferWithLength:64 options:MTLResourceStorageModeMemoryless]);
  CHECK("unknown options are refused", ![device newBufferWithLength:64 options:1 << 20]);
}

static void check_bytes(id<MTLDevice> device) {
  char source[] = "copied";
  id<MTLBuffer> buffer = [device newBufferWithBytes:source length:sizeof source options:0];
  source[0] = 'X';
  CHECK("newBufferWithBytes copies", strcmp([buffer contents], "copied") == 0);
  [buffer release];
  CHECK("newBufferWithBytes of 0 bytes is refused", ![device newBufferWithBytes:source length:0 options:0]);
}

static void check_no_copy(id<MTLDevice> device) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  id<MTLBuffer> buffer = [device newBufferWithBytesNoCopy:memory length:2 * page options:0 deallocator:NULL];
  CHECK("no copy is made", [buffer contents] == memory && [buffer length] == 2 * page);
  [buffer release];
  memory[0] = 1;
  CHECK("the memory stays the caller's", memory[0] == 1);
  CHECK("a pointer off a page is refused", ![device newBufferWithBytesNoCopy:memory + 64 length:page options:0 deallocator:NULL]);
  CHECK("a length off a page is refused", ![device newBufferWithBytesNoCopy:memory length:page + 64 options:0 deallocator:NULL]);
  CHECK("length 0 is refused", ![device newBufferWithBytesNoCopy:memory length:0 options:0 deallocator:NULL]);
  CHECK("NULL is refused", ![device newBufferWithBytesNoCopy:NULL length:page options:0 deallocator:NULL]);
  CHECK("private storage is refused",
        ![device newBufferWithBytesNoCopy:memory length:page options:MTLResourceStorageModePrivate deallocator:NULL]);
  munmap(memory, 2 * page);
}

int main(void) {
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  id<MTLDevice> device = test_device(1);
  check_lengths(device);
  check_options(device);
  check_bytes(device);
  check_no_copy(device);
  [device release];
  [pool release];
  return test_result();
}
