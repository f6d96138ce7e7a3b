#include "metal/binary_archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "metal/errors.h"
#include "metal/file.h"

NSErrorDomain const MTLBinaryArchiveDomain = @"MTLBinaryArchiveDomain";

enum { LINE = 512, CHECKSUM = sizeof "checksum 0123456789abcdef\n" - 1 };

static void refuse(NSError **error, MTLBinaryArchiveError code, const char *call, const char *what, const char *why) {
  softmetal_error_give(error, MTLBinaryArchiveDomain, code, "%s: %s: %s", call, what != NULL ? what : "nil", why);
}

/* FNV-1a */
static uint64_t hash_of(const char *bytes, size_t length) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
  return hash;
}

/* What a file begins with: the format's version, and the device whose pipelines these are. */
static void print_header(SoftmetalDevice *device, char *line) {
  snprintf(line, LINE, "softmetal binary archive 1: %s %s", device->family->name, device->instruction_sets[0]);
}

static void print_checksum(const char *bytes, size_t length, char *line) {
  snprintf(line, LINE, "checksum %016llx\n", (unsigned long long)hash_of(bytes, length));
}

/* "\n...\n" of a pipeline; false where it does not fit. */
static bool print_entry(SoftmetalFunction *function, char *line) {
  const softmetal_library *library = function->library->library;
  int length = snprintf(line, LINE, "\n%016llx %s %s", (unsigned long long)hash_of(library->source, strlen(library->source)),
                        library->instruction_set, function->kernel->name);
  for (uint32_t given = function->given; given != 0 && length < LINE; given &= given - 1) {
    int constant = __builtin_ctz(given);
    length += snprintf(line + length, (size_t)(LINE - length), " %d=%llx", constant,
                       (unsigned long long)function->constants[constant]);
  }
  if (length < LINE) length += snprintf(line + length, (size_t)(LINE - length), "\n");
  return length < LINE;
}

/* The entries of a whole file, to be freed; NULL where it is not one of this device. */
static char *parse(SoftmetalDevice *device, const char *bytes, size_t length) {
  char header[LINE], checksum[LINE];
  print_header(device, header);
  size_t start = strlen(header);
  if (length < start + 1 + CHECKSUM || memcmp(bytes, header, start) != 0 || bytes[start] != '\n') return NULL;
  size_t end = length - CHECKSUM;
  print_checksum(bytes, end, checksum);
  return memcmp(bytes + end, checksum, CHECKSUM) == 0 ? strndup(bytes + start, end - start) : NULL;
}

static char *load(SoftmetalDevice *device, NSURL *url, NSError **error) {
  const char *path = [[url path] UTF8String];
  size_t length;
  char *bytes = softmetal_file_read(path, &length);
  char *entries = bytes != NULL ? parse(device, bytes, length) : NULL;
  if (entries == NULL) {
    refuse(error, MTLBinaryArchiveErrorInvalidFile, "newBinaryArchiveWithDescriptor", path,
           bytes != NULL ? "damaged, or of another device or version" : "cannot be read");
  }
  free(bytes);
  return entries;
}

SoftmetalBinaryArchive *softmetal_binary_archive_new(SoftmetalDevice *device, MTLBinaryArchiveDescriptor *descriptor, NSError **error) {
  const char *call = "newBinaryArchiveWithDescriptor";
  if (softmetal_hook_fails() || softmetal_hook_archives_refused()) {
    refuse(error, MTLBinaryArchiveErrorInternalError, call, "the archive", "refused for a test");
    return nil;
  }
  char *entries = [descriptor url] != nil ? load(device, [descriptor url], error) : strdup("\n");
  SoftmetalBinaryArchive *archive = entries != NULL ? [[SoftmetalBinaryArchive alloc] init] : nil;
  if (archive == nil) {
    free(entries);
    return nil;
  }
  archive->device = [device retain];
  archive->entries = entries;
  return archive;
}

BOOL softmetal_binary_archives_hold(NSArray *archives, SoftmetalFunction *function) {
  char entry[LINE];
  if (!print_entry(function, entry)) return NO;
  for (NSUInteger i = 0; i < [archives count]; i++) {
    SoftmetalBinaryArchive *archive = [archives objectAtIndex:i];
    if (archive->device == function->library->device && strstr(archive->entries, entry) != NULL) return YES;
  }
  return NO;
}

@implementation SoftmetalBinaryArchive

- (void)dealloc {
  free(entries);
  [device release];
  [super dealloc];
}

- (id<MTLDevice>)device {
  return device;
}

- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor error:(NSError **)error {
  const char *call = "addComputePipelineFunctionsWithDescriptor";
  if (softmetal_hook_fails()) {
    refuse(error, MTLBinaryArchiveErrorInternalError, call, "the pipeline", "refused for a test");
    return NO;
  }
  id given = [descriptor computeFunction];
  char entry[LINE];
  SoftmetalFunction *function = [given isKindOfClass:[SoftmetalFunction class]] ? given : nil;
  if (function == nil || function->library->device != device || !print_entry(function, entry)) {
    refuse(error, MTLBinaryArchiveErrorUnexpectedElement, call, "computeFunction", "nil, another device's or too long");
    return NO;
  }
  if (strstr(entries, entry) != NULL) return YES;
  size_t length = strlen(entries);
  char *longer = realloc(entries, length + strlen(entry));
  if (longer == NULL) return NO;
  strcpy(longer + length, entry + 1);
  entries = longer;
  return YES;
}

- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error {
  const char *call = "serializeToURL", *path = [[url path] UTF8String];
  if (softmetal_hook_fails()) {
    refuse(error, MTLBinaryArchiveErrorInternalError, call, path, "failed for a test");
    return NO;
  }
  char header[LINE], checksum[LINE];
  print_header(device, header);
  size_t length = strlen(header) + strlen(entries);
  char *bytes = malloc(length + 1);
  if (bytes == NULL) return NO;
  strcat(strcpy(bytes, header), entries);
  print_checksum(bytes, length, checksum);
  FILE *file = path != NULL ? fopen(path, "wb") : NULL;
  bool written = file != NULL && fwrite(bytes, 1, length, file) == length && fputs(checksum, file) >= 0;
  if (file != NULL && fclose(file) != 0) written = false;
  free(bytes);
  if (!written) refuse(error, MTLBinaryArchiveErrorInternalError, call, path, "cannot be written");
  return written;
}

@end

@implementation MTLBinaryArchiveDescriptor

- (void)dealloc {
  [url release];
  [super dealloc];
}

- (NSURL *)url {
  return url;
}

- (void)setUrl:(NSURL *)fileURL {
  [fileURL retain];
  [url release];
  url = fileURL;
}

@end
