/* true(1) without a libc: the cheapest program there is to start. */
#include "floor.h"

void floor_main(long *stack) {
  (void)stack;
  floor_exit(0);
}
