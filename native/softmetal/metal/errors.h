#ifndef SOFTMETAL_ERRORS_H
#define SOFTMETAL_ERRORS_H

#import <Foundation/Foundation.h>

/* +1, with the text as localizedDescription; nil when memory runs out. */
NSError *softmetal_error_new(NSErrorDomain domain, NSInteger code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Into a call's error argument: autoreleased, and only where the caller wants it. */
void softmetal_error_give(NSError **error, NSErrorDomain domain, NSInteger code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
