/* Metal does not survive fork(): a child that inherits a device gets an error at once, never a hang. */
#ifndef PAGEDRT_FORK_H
#define PAGEDRT_FORK_H

#include "pagedrt.h"

/* Called before the first device is made: a child forked earlier may make its own. */
pagedrt_status fork_watch(void);
/* PAGEDRT_DEVICE_ERROR in a process forked after fork_watch. */
pagedrt_status fork_check(void);
bool fork_happened(void);

#endif
