#include "status.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "descriptors.h"
#include "init.h"
#include "scan.h"

/* linux/memfd.h and linux/fcntl.h have them, but musl-gcc sees no linux/
 * headers, and older libcs lack the newer ones. */
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#define MFD_ALLOW_SEALING 2U
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 16
#endif

/* From the Makefile; a checker that compiles without it has none. */
#ifndef FOSTER_VERSION
#define FOSTER_VERSION "0.0.0"
#endif

/* A reader may have been built by another compiler, for 32 bits say. */
_Static_assert(offsetof(struct status, start_time) == 40, "layout 1");
_Static_assert(offsetof(struct status, signals_forwarded) == 72, "layout 1");
_Static_assert(offsetof(struct status, command) == 668, "layout 1");
_Static_assert(sizeof(struct status) <= STATUS_PAGE_SIZE, "one page");

static const char magic[sizeof((struct status *)0)->magic] = "foster-status";

/* The kernel's own way (Linux 6.3): no x bit, for ever. Where the sysctl
 * vm.memfd_noexec is 2 it is the only one allowed, and without it the kernel
 * logs a warning. Older kernels say EINVAL. */
static int create_memfd(void) {
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  long fd = syscall(SYS_memfd_create, magic, flags | MFD_NOEXEC_SEAL);

  if (fd < 0)
    fd = syscall(SYS_memfd_create, magic, flags);
  return descriptor_of_ours((int)fd);
}

void status_start(struct status *status, pid_t pid, enum status_mode mode,
                  const char *command) {
  *status = (struct status){
      .layout = STATUS_LAYOUT,
      .pid = pid,
      .mode = mode,
      .state = command != NULL ? STATE_RUNNING : STATE_PAUSED,
      .start_time = call_clock(CLOCK_REALTIME),
      .start_monotonic = now(),
  };
  memcpy(status->version, FOSTER_VERSION, sizeof FOSTER_VERSION);
  for (size_t i = 0;
       command != NULL && command[i] != '\0' && i < sizeof status->command - 1;
       i++)
    status->command[i] = command[i];
}

struct status *status_share(struct status *status) {
  /* FUTURE_WRITE (Linux 5.1) spares the mapping that we already have. */
  const unsigned long seals =
      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (status->magic[0] != '\0')
    return status; /* it is already */
  int fd = create_memfd();
  if (fd < 0)
    return status;
  if (ftruncate(fd, STATUS_PAGE_SIZE) == 0) {
    struct status *page = call_map_shared(fd, STATUS_PAGE_SIZE);
    if (page != MAP_FAILED) {
      if (call_fcntl(fd, F_ADD_SEALS, seals) == 0) {
        /* Sealed first: until then another process could truncate the page,
         * and the copy would be the store that ends us. */
        *page = *status;
        /* Last, since it is what makes this a page to a reader. */
        __atomic_thread_fence(__ATOMIC_RELEASE);
        memcpy(page->magic, magic, sizeof magic);
        return page;
      }
      /* The mapping stays: a page of which nobody knows. */
    }
  }
  (void)close(fd);
  return status;
}

static bool has_magic(const struct status *page) {
  for (size_t i = 0; i < sizeof magic; i++) /* the zeros at its end too */
    if (page->magic[i] != magic[i])
      return false;
  return true;
}

bool status_foreign(const struct status *page) {
  return has_magic(page) && page->layout != STATUS_LAYOUT;
}

bool status_valid(const struct status *page) {
  return has_magic(page) && page->layout == STATUS_LAYOUT && page->pid > 0 &&
         page->mode <= MODE_PID1 && page->state <= STATE_PAUSED &&
         page->entrypoint_pid >= 0 && page->start_time >= 0 &&
         page->start_monotonic >= 0 && page->last_signal >= 0 &&
         page->last_signal <= SIGNAL_MAX &&
         find(page->version, sizeof page->version, '\0') != NULL &&
         find(page->command, sizeof page->command, '\0') != NULL;
}

const char *seconds(nanoseconds time) {
  if (time < 0)
    time = 0;
  unsigned thousandths = (unsigned)(time % SECOND / (SECOND / 1000));
  return brief("%llu.%u%u%u", (unsigned long long)(time / SECOND),
               thousandths / 100, thousandths / 10 % 10, thousandths % 10);
}

void status_json(struct line *line, const struct status *page, nanoseconds time,
                 const char *state) {
  static const char modes[][10] = {"plain", "subreaper", "pid1"};
  static const char states[][9] = {"running", "stopped", "draining", "paused"};

  line_format(line,
              "\"version\":\"%s\",\"pid\":%d,\"mode\":\"%s\",\"state\":\"%s\","
              "\"entrypoint\":",
              page->version, page->pid, modes[page->mode],
              state != NULL ? state : states[page->state]);
  line_format(line,
              page->entrypoint_pid != 0
                  ? "{\"pid\":%d,\"start_time\":%s,\"command\":\"%s\"}"
                  : "null",
              page->entrypoint_pid, seconds(page->start_time), page->command);
  line_format(line,
              ",\"uptime_seconds\":%s,\"orphans_reaped\":%llu,"
              "\"left_behind\":%llu,\"signals_forwarded\":{",
              seconds(time - page->start_monotonic),
              (unsigned long long)page->orphans_reaped,
              (unsigned long long)page->left_behind);
  const char *separator = "";
  for (int signal = 1; signal <= SIGNAL_MAX; signal++) {
    unsigned long long count = page->signals_forwarded[signal];
    if (count == 0)
      continue;
    line_format(line, "%s\"%s\":%llu", separator, signal_name(signal), count);
    separator = ",";
  }
  line_format(line,
              page->last_signal != 0
                  ? "},\"last_signal\":{\"name\":\"%s\",\"sender_pid\":%d,"
                    "\"sender_uid\":%u}"
                  : "},\"last_signal\":null",
              signal_name(page->last_signal), page->last_sender_pid,
              page->last_sender_uid);
}
