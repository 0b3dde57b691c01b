#include <sched.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

// What Swift's import of the system's headers leaves out.

// Lets the calling thread run on one processor only; 0 when it is done (sched_setaffinity(2)).
static inline long stay_on_processor(unsigned processor) {
    unsigned long mask[16] = {0};
    unsigned bits = 8 * sizeof mask[0];
    if (processor >= 16 * bits) return -1;
    mask[processor / bits] = 1UL << (processor % bits);
    return syscall(SYS_sched_setaffinity, 0, sizeof mask, mask) < 0 ? -1 : 0;
}

// Lets the calling thread stop nobody who runs when it wakes up: SCHED_BATCH (sched(7)); 0 when it is done.
static inline int run_as_batch(void) {
    struct sched_param parameters = {0};
    return sched_setscheduler(0, 3, &parameters);
}
