/* The same on a kernel that has no pwritev2(2), or where a sandbox says so. */
#include <sys/syscall.h>

#undef SYS_pwritev2
#define SYS_pwritev2 (-1)
#include "../../src/log.c" /* NOLINT(bugprone-suspicious-include) */

#include "test_log.c" /* NOLINT(bugprone-suspicious-include) */
