#include "allocation.h"

#include <stdlib.h>

void *portcullis_allocate(size_t bytes) {
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (!memory) abort();
    return memory;
}

void *portcullis_allocate_list(size_t count, size_t bytes) {
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) abort();
    return portcullis_allocate(total);
}
