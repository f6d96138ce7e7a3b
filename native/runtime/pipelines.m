#include "pipelines.h"

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "device.h"
#include "errors.h"
#include "metallib.h"
#include "platform.h"

bool pipelines_init(pipeline_cache *cache, pagedrt_device *device) {
  if (pthread_rwlock_init(&cache->lock, NULL) != 0) return false;
  if (pthread_mutex_init(&cache->build, NULL) != 0) {
    pthread_rwlock_destroy(&cache->lock);
    return false;
  }
  for (int kind = 0; kind < KERNEL_KINDS; kind++) cache->libraries[kind] = (pagedrt_library){device, kind, nil};
  return true;
}

void pipelines_keep(pagedrt_device *device) {
  pthread_mutex_lock(&device->pipelines.build);
  archive_save(device);
  pthread_mutex_unlock(&device->pipelines.build);
}

void pipelines_end(pipeline_cache *cache) {
  for (int i = 0; i < KERNEL_INSTANCES; i++) {
    for (int heads = 0; heads < PIPELINE_HEADS; heads++) {
      pipeline *entry = cache->entries[i][heads];
      if (entry == NULL) continue;
      [entry->state release];
      free(entry);
    }
  }
  for (int kind = 0; kind < KERNEL_KINDS; kind++) [cache->libraries[kind].metal release];
  archive_end(&cache->archive);
  pthread_mutex_destroy(&cache->build);
  pthread_rwlock_destroy(&cache->lock);
}

static const char *describe(NSError *error) {
  const char *text = [[error localizedDescription] UTF8String];
  return text != NULL ? text : "no reason given";
}

/* -inf and NaN are data to the kernels. macOS 15 has mathMode, in place of what macOS 14 has alone. */
static void keep_special_values(MTLCompileOptions *options) {
  if ([options respondsToSelector:@selector(setMathMode:)]) {
    [options setMathMode:MTLMathModeSafe];
  } else {
    [options setFastMathEnabled:NO];
  }
  if ([options respondsToSelector:@selector(setMathFloatingPointFunctions:)]) {
    [options setMathFloatingPointFunctions:MTLMathFloatingPointFunctionsPrecise];
  }
}

/* Called with cache->build held. */
static pagedrt_status library_load(pagedrt_device *device, kernel_kind kind) {
  pagedrt_library *library = &device->pipelines.libraries[kind];
  if (library->metal != nil) return PAGEDRT_OK;
  library->metal = metallib_load(device->metal, kernel_library_names[kind]);
  if (library->metal != nil) {
    count_up(&device->counters.libraries_loaded, 1);
    return PAGEDRT_OK;
  }
  const char *source = pagedrt_shader_source(kernel_library_names[kind]);
  if (source == NULL) return error_set(PAGEDRT_DEVICE_ERROR, "library %s: not in this build", kernel_library_names[kind]);
  MTLCompileOptions *options = [[MTLCompileOptions alloc] init];
  [options setLanguageVersion:MTLLanguageVersion3_1];
  keep_special_values(options);
  NSString *text = [[NSString alloc] initWithUTF8String:source];
  NSError *error = nil;
  library->metal = [device->metal newLibraryWithSource:text options:options error:&error];
  [text release];
  [options release];
  if (library->metal == nil) return error_set(PAGEDRT_DEVICE_ERROR, "library %s: %s", kernel_library_names[kind], describe(error));
  count_up(&device->counters.libraries_compiled, 1);
  return PAGEDRT_OK;
}

/* The function (+1), specialised where its kind takes constants; nil with *error, if the device gave one. */
static id<MTLFunction> make_function(id<MTLLibrary> library, const kernel_instance *instance, uint32_t heads, NSError **error) {
  NSString *name = [[NSString alloc] initWithUTF8String:instance->name];
  id<MTLFunction> function = nil;
  if (instance->kind == KERNEL_reduce || instance->kind == KERNEL_micro) {
    function = [library newFunctionWithName:name];
  } else {
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues alloc] init];
    [constants setConstantValue:&heads type:MTLDataTypeUInt atIndex:PAGEDRT_CONSTANT_HEADS];
    function = [library newFunctionWithName:name constantValues:constants error:error];
    [constants release];
  }
  [name release];
  return function;
}

/* Called with cache->build held. */
static pagedrt_status pipeline_build(pagedrt_device *device, const kernel_instance *instance, uint32_t heads, pipeline **built) {
  pagedrt_status status = library_load(device, instance->kind);
  if (status != PAGEDRT_OK) return status;
  NSError *error = nil;
  id<MTLFunction> function = make_function(device->pipelines.libraries[instance->kind].metal, instance, heads, &error);
  if (function == nil) return error_set(PAGEDRT_DEVICE_ERROR, "function %s: %s", instance->name, describe(error));
  id<MTLComputePipelineState> state = archive_find(device, function);
  if (state == nil) {
    state = [device->metal newComputePipelineStateWithFunction:function error:&error];
    if (state != nil) archive_add(device, function);
  }
  [function release];
  if (state == nil) return error_set(PAGEDRT_DEVICE_ERROR, "pipeline %s: %s", instance->name, describe(error));
  pipeline *entry = calloc(1, sizeof *entry);
  if (entry == NULL) {
    [state release];
    return error_set(PAGEDRT_OUT_OF_MEMORY, "pipeline %s: no memory for its handle", instance->name);
  }
  entry->state = state;
  entry->simd_width = (uint32_t)[state threadExecutionWidth];
  entry->max_threads = (uint32_t)[state maxTotalThreadsPerThreadgroup];
  entry->static_memory = (uint32_t)[state staticThreadgroupMemoryLength];
  count_up(&device->counters.pipelines_built, 1);
  *built = entry;
  return PAGEDRT_OK;
}

static pipeline *lookup(pipeline_cache *cache, size_t row, unsigned column) {
  pthread_rwlock_rdlock(&cache->lock);
  pipeline *entry = cache->entries[row][column];
  pthread_rwlock_unlock(&cache->lock);
  return entry;
}

pagedrt_status pipelines_get(pagedrt_device *device, const kernel_instance *instance, uint32_t heads, const pipeline **found) {
  pipeline_cache *cache = &device->pipelines;
  size_t row = (size_t)(instance - kernel_instances);
  unsigned column = (unsigned)__builtin_ctz(heads);
  pipeline *entry = lookup(cache, row, column);
  pagedrt_status status = PAGEDRT_OK;
  if (entry == NULL) {
    pthread_mutex_lock(&cache->build);
    entry = lookup(cache, row, column); /* another thread may have built it meanwhile */
    if (entry == NULL) {
      status = pipeline_build(device, instance, heads, &entry);
      pthread_rwlock_wrlock(&cache->lock);
      cache->entries[row][column] = entry;
      pthread_rwlock_unlock(&cache->lock);
    }
    pthread_mutex_unlock(&cache->build);
  }
  *found = entry;
  return status;
}

pagedrt_status pagedrt_device_library(pagedrt_device *device, const char *name, pagedrt_library **library) {
  pagedrt_status status = device_usable(device);
  if (status != PAGEDRT_OK) return status;
  if (name == NULL) return error_set(PAGEDRT_INVALID_INPUT, "name: NULL, expected a library's name");
  if (library == NULL) return error_set(PAGEDRT_INVALID_INPUT, "library: NULL, expected a place for the handle");
  int kind = 0;
  while (kind < KERNEL_KINDS && strcmp(kernel_library_names[kind], name) != 0) kind++;
  if (kind == KERNEL_KINDS) {
    return error_set(PAGEDRT_INVALID_INPUT, "name: \"%s\", expected \"sdpa_one_pass\", \"sdpa_partial\", \"sdpa_reduce\" or \"micro\"", name);
  }
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  pthread_mutex_lock(&device->pipelines.build);
  status = library_load(device, kind);
  pthread_mutex_unlock(&device->pipelines.build);
  if (status == PAGEDRT_OK) *library = &device->pipelines.libraries[kind];
  [pool drain];
  return status;
}
