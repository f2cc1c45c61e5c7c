/* For `make coverage` alone: init that dies of a signal, as its program did,
 * leaves without libc's exit, in which the counters are written. */
#include <signal.h>
#include <stdint.h>

void __gcov_dump(void);
int __wrap_signals_set_mask(uint64_t mask);
/* Weak: not all unit tests have it. */
__attribute__((weak)) int __real_signals_set_mask(uint64_t mask);

int __wrap_signals_set_mask(uint64_t mask) {
  if (mask == ~(UINT64_C(1) << (SIGINT - 1)) ||
      mask == ~(UINT64_C(1) << (SIGQUIT - 1)))
    __gcov_dump();
  return __real_signals_set_mask(mask);
}
