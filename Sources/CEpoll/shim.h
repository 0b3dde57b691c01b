#include <stddef.h>
#include <sys/epoll.h>

/* What glibc has only for those who ask for its extensions. */
extern void *memmem(const void *haystack, size_t haystack_length, const void *needle, size_t needle_length);
