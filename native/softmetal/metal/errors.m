#include "metal/errors.h"

#import <Metal/Metal.h>
#include <stdarg.h>
#include <stdio.h>

NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";
NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";

/* Threads of softmetal's own have no pool above them: this one's objects end here. */
static NSError *error_with(NSErrorDomain domain, NSInteger code, const char *format, va_list arguments) {
  char text[16384];
  vsnprintf(text, sizeof text, format, arguments);
  NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
  NSDictionary *information = [NSDictionary dictionaryWithObject:[NSString stringWithUTF8String:text]
                                                          forKey:NSLocalizedDescriptionKey];
  NSError *error = [[NSError alloc] initWithDomain:domain code:code userInfo:information];
  [pool release];
  return error;
}

NSError *softmetal_error_new(NSErrorDomain domain, NSInteger code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  NSError *error = error_with(domain, code, format, arguments);
  va_end(arguments);
  return error;
}

void softmetal_error_give(NSError **error, NSErrorDomain domain, NSInteger code, const char *format, ...) {
  if (error == NULL) return;
  va_list arguments;
  va_start(arguments, format);
  *error = [error_with(domain, code, format, arguments) autorelease];
  va_end(arguments);
}
