// Allocates memory, or aborts the call.
#ifndef PORTCULLIS_ALLOCATION_H
#define PORTCULLIS_ALLOCATION_H

#include <stddef.h>

// malloc that aborts the call if there is no memory.
void *portcullis_allocate(size_t bytes);

// The same for a list. Aborts the call if the size is beyond all memory.
void *portcullis_allocate_list(size_t count, size_t bytes);

#endif
