/* The one place where a build for Apple's Metal and a build for softmetal differ: meson.build picks
 * which file implements it. */
#ifndef PAGEDRT_PLATFORM_H
#define PAGEDRT_PLATFORM_H

#import <Metal/Metal.h>

/* Families this build knows, best first, NULL-terminated. */
extern const char *const pagedrt_platform_families[];

/* Workers that a device takes at most; 0 where there are none to set. */
extern const uint32_t pagedrt_platform_most_threads;

/* The device (+1) of a family this build knows, or nil with *reason a static string that says why not.
 * threads: workers, at most most_threads, 0 for one a core; *threads_used and *instruction_set are what was taken
 * (0 and "" where there are none). */
id<MTLDevice> pagedrt_platform_device(const char *family, uint32_t threads, uint32_t *threads_used,
                                      const char **instruction_set, const char **reason);

/* The folder of the libraries that were compiled when this was built, which may lack any of them; NULL: none. */
const char *pagedrt_platform_metallibs(void);

/* The MSL text of a library ("sdpa_one_pass", "sdpa_partial", "sdpa_reduce", "micro"), or NULL. */
const char *pagedrt_shader_source(const char *library);

#endif
