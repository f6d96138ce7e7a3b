#ifndef SOFTMETAL_COMMAND_BUFFER_H
#define SOFTMETAL_COMMAND_BUFFER_H

#include "execution/queue.h"
#include "metal/command_queue.h"

@interface SoftmetalCommandBuffer : NSObject <MTLCommandBuffer> {
 @public
  SoftmetalCommandQueue *queue;
  submission work;
  BOOL retainsReferences;
  BOOL committed;
  id openEncoder; /* not retained */
  void *error; /* an NSError, the first; set once, atomically */
}
@end

/* +1; nil when memory runs out. */
SoftmetalCommandBuffer *softmetal_command_buffer_new(SoftmetalCommandQueue *queue, BOOL retainsReferences);
/* Makes it end in an error, at any time. */
void softmetal_command_buffer_fail(SoftmetalCommandBuffer *self, MTLCommandBufferError code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Keeps an object until completion, if it retains references. */
void softmetal_command_buffer_keep(SoftmetalCommandBuffer *self, id object);

#endif
