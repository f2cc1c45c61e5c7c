/* Any text as a signal's name: a number in range or none, and the number's own
 * name leads back to it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "signames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  /* An allocation of the exact size, so that reading behind it is seen. */
  char *name = malloc(size + 1);
  if (name == NULL)
    return 0;
  memcpy(name, data, size);
  name[size] = '\0';

  int signal = signal_number(name);
  if (signal < 0 || signal > SIGNAL_MAX)
    abort();
  const char *own = signal_name(signal);
  if (strlen(own) >= 16)
    abort();
  /* 32 and 33 have a number only. */
  if (strncmp(own, "SIG", 3) == 0 && signal_number(own) != signal)
    abort();
  free(name);
  return 0;
}
