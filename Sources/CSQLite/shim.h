#include <sqlite3.h>

/// `sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0)`: Swift imports no function whose arguments vary.
static inline int sqlite3_config_memory_status_off(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
