/* Seeing inside: the page of counters. Its reader is status_reader.h, the
 * report at the end report.h. */
#ifndef FOSTER_STATUS_H
#define FOSTER_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "log.h"
#include "options.h"

enum status_mode { MODE_PLAIN, MODE_SUBREAPER, MODE_PID1 };
enum status_state {
  STATE_RUNNING,
  STATE_STOPPED,
  STATE_DRAINING,
  STATE_PAUSED
};

enum { STATUS_PAGE_SIZE = 4096, STATUS_LAYOUT = 1, STATUS_COMMAND_SIZE = 256 };

/* What init knows of itself, as it lies in the shared page. Layout 1: every
 * change of it needs another number.
 * init alone writes it, by plain stores. `sequence` is odd while it does, so a
 * reader that sees the same even number before and after its copy has one
 * moment's values, those of two words included. */
struct status {
  char magic[16]; /* "foster-status", from status_share() on */
  uint32_t layout;
  uint32_t sequence;
  int32_t pid;
  uint32_t mode;
  uint32_t state;
  int32_t entrypoint_pid;  /* 0 with -P */
  int64_t start_time;      /* CLOCK_REALTIME, nanoseconds */
  int64_t start_monotonic; /* CLOCK_MONOTONIC, nanoseconds */
  uint64_t orphans_reaped; /* every child reaped but the entrypoint */
  uint64_t left_behind;    /* children that were there when it ended */
  uint64_t signals_forwarded[SIGNAL_MAX + 1]; /* by number received */
  int32_t last_signal; /* received and not SIGCHLD; 0: none yet */
  int32_t last_sender_pid;
  uint32_t last_sender_uid;
  char version[64];
  char command[STATUS_COMMAND_SIZE]; /* PROGRAM as it was given, no arguments */
};

/* Begin the page, as the entrypoint starts: the version, the times, who we are.
 * `command` is PROGRAM, or NULL with -P. The rest is 0. */
void status_start(struct status *status, pid_t pid, enum status_mode mode,
                  const char *command);

/* Put the page into a sealed memfd and go on there: every later store is seen
 * by readers. `status` is the page so far; returns where it is from now on,
 * which is `status` itself if it is shared already, or no memfd can be had or
 * sealed (memfd_create(2), F_ADD_SEALS: without seals another process of the
 * same user could truncate the page and so kill init with SIGBUS). To be called
 * after the descriptors from 3 up were closed: the memfd stays open, 3 or
 * higher, because readers find the page through it. */
struct status *status_share(struct status *status);

/* Bracket a change of the page. A sequence lock with one writer that never
 * waits: the counts of a signal and its sender are several words, and on 32-bit
 * machines a counter alone is two. A reader copies until the sequence is even
 * and the same on both sides. The fences keep compiler and processor from
 * moving the stores in between out of the bracket; on x86 they cost nothing. */
__attribute__((always_inline)) static inline void
status_begin(struct status *status) {
  status->sequence++;
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

__attribute__((always_inline)) static inline void
status_end(struct status *status) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  status->sequence++;
}

/* Is this, copied from another process, a page of this layout, with every
 * string terminated and every number in its range? Pure. */
bool status_valid(const struct status *page);

/* Is it a page of a layout that we don't know? Pure. */
bool status_foreign(const struct status *page);

/* Append the members of the JSON object that --status and --report share, from
 * a valid page, without braces around and without a comma at the end. `time`
 * is CLOCK_MONOTONIC; `state` a word to stand in the place of the page's, or
 * NULL. Takes at most STATUS_JSON_SIZE bytes. Pure. */
void status_json(struct line *line, const struct status *page, nanoseconds time,
                 const char *state);

/* Room for every string escaped to six times its length, every signal's name
 * with 20 digits, and what stands around them. */
enum { STATUS_JSON_SIZE = 6 * (64 + STATUS_COMMAND_SIZE) + 64 * 40 + 640 };

/* A number of seconds, e.g. 12.345, as a brief() text; negative times are 0. */
const char *seconds(nanoseconds time);

#endif
