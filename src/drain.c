#include "drain.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "children.h"
#include "reap.h"
#include "signals.h"

#define MILLISECOND (SECOND / 1000)

/* An adoption sends us no signal if the dead parent had a living parent of its
 * own. So the list is read again, soon while things move, then less often. */
static const nanoseconds list_soonest = 5 * MILLISECOND;
static const nanoseconds list_latest = 200 * MILLISECOND;

/* With a grace period without end, when its half would be. */
static const nanoseconds usual_half = 2500 * MILLISECOND;

/* Killing goes on while it helps: for so long without a death, and for so long
 * in all. What is left then cannot be killed: another user's set-user-ID
 * program, a process stuck in the kernel, a zombie that its tracer holds. */
static const nanoseconds kill_patience = 2 * SECOND;
static const nanoseconds kill_limit = 10 * SECOND;

/* How many of those that had to be killed are named. */
enum { NAMED = 5 };

struct draining {
  nanoseconds start;
  nanoseconds deadline; /* the end of the grace period */
  nanoseconds half;     /* the second wave; NEVER once it was sent */
  bool group_told;      /* SIGTERM was forwarded to the entrypoint's group */
};

static nanoseconds earlier(nanoseconds one, nanoseconds other) {
  return one < other ? one : other;
}

/* When the grace period ends: kill_after from the entrypoint's end; if a stop
 * was asked for before, from then, so that the 10 s of "docker stop" are not
 * overrun by the sum, but not before the rest had a second too. */
static nanoseconds grace_end(const struct init *init, nanoseconds start) {
  nanoseconds kill_after = init->options.kill_after;
  if (init->first_stop == NEVER || kill_after == NEVER)
    return later(start, kill_after);
  nanoseconds from_stop = init->first_stop + kill_after;
  nanoseconds least = start + earlier(SECOND, kill_after);
  return from_stop > least ? from_stop : least;
}

/* A signal to the whole namespace, ourselves not included. As anything but PID
 * 1 it would reach all that the user may signal; as PID 1 also the foreign. */
static bool signal_namespace(const struct init *init, int signal) {
  if (getpid() != 1 || init->foreign)
    return false;
  (void)kill(-1, signal); /* ESRCH: nobody left */
  return true;
}

/* SIGTERM, and SIGCONT for those that are stopped. */
static void tell(pid_t target) {
  kill(target, SIGTERM);
  kill(target, SIGCONT);
}

static void count_left_behind(struct init *init, pid_t pid, void *context) {
  (void)context;
  if (!child_alive(pid))
    return;
  status_begin(init->status);
  init->status->left_behind++;
  status_end(init->status);
}

static void tell_child(struct init *init, pid_t pid, void *context) {
  struct draining *draining = context;
  if (!child_mark_told(pid))
    return;
  if (log_level >= LOG_VERBOSE)
    log_line(LOG_VERBOSE, "drain: telling process %d (%s)", (int)pid,
             CHILD_NAME(pid));
  /* A second SIGTERM makes some programs end without cleaning up. */
  if (draining->group_told && getpgid(pid) == init->entrypoint.pid)
    kill(pid, SIGCONT);
  else
    tell(pid);
}

/* What hides under a parent that ignores SIGTERM, or was forked into the
 * entrypoint's group after the signal that it got. The leader, not reaped yet,
 * pins the group's number. */
static void tell_group(struct init *init, pid_t pid, void *context) {
  struct draining *draining = context;
  pid_t group = getpgid(pid);
  if (group == pid)
    tell(-pid);
  else if (draining->group_told && group == init->entrypoint.pid)
    tell(pid);
}

static bool tell_namespace(const struct init *init) {
  return signal_namespace(init, SIGTERM) && signal_namespace(init, SIGCONT);
}

static void second_wave(struct init *init, struct draining *draining) {
  log_line(LOG_VERBOSE, "drain: half of the grace period is over");
  if (!tell_namespace(init))
    children_visit(init, tell_group, draining, draining->deadline);
  draining->group_told = false;
  draining->half = NEVER;
}

/* A stop signal ends the grace period if it is not an echo: timeout(1) and
 * systemd send theirs twice at once. */
static void receive(struct init *init, struct draining *draining,
                    nanoseconds until) {
  struct signalfd_siginfo records[SIGNAL_BATCH];
  int count = signals_receive(init, records, until);
  for (int i = 0; i < count; i++) {
    int signal = (int)records[i].ssi_signo;
    if (!is_stop_signal(signal) || init->options.rewrite[signal] == 0)
      continue;
    nanoseconds time = now();
    bool again = init->last_stop == NEVER || time >= init->last_stop + SECOND;
    init->last_stop = time;
    if (again && time >= draining->start + SECOND) {
      log_line(LOG_VERBOSE, "drain: %s ends the grace period",
               SIGNAL_NAME(signal));
      draining->deadline = time;
    }
  }
}

/* The grace period. Returns true when nobody is left.
 * Each turn tells before it reaps: under a storm of orphans a drain that reaps
 * until nothing is ready never comes to telling. */
static bool ask(struct init *init, struct draining *draining) {
  nanoseconds pause = list_soonest;
  nanoseconds list_at = draining->start;

  for (;;) {
    nanoseconds time = now();
    if (time >= draining->deadline)
      return false;
    if (time >= draining->half)
      second_wave(init, draining);
    if (time >= list_at) {
      int count =
          children_visit(init, tell_child, draining, draining->deadline);
      if (count == 0)
        return true;
      nanoseconds end = now();
      /* A long list must not take all of our time. */
      list_at = end + (pause > end - time ? pause : end - time);
      pause = earlier(2 * pause, list_latest);
      if (count < 0) {
        tell_namespace(init);
        list_at = NEVER;
      }
    }

    uint64_t before = init->status->orphans_reaped;
    enum reap_result reaped = reap(init);
    if (reaped == REAP_NOBODY)
      return true;
    if (init->status->orphans_reaped != before) {
      pause = list_soonest;
      list_at = earlier(list_at, now() + pause);
    }
    nanoseconds wake =
        earlier(list_at, earlier(draining->deadline, draining->half));
    receive(init, draining, reaped == REAP_MORE ? 0 : wake);
  }
}

/* The first of those that have to be killed, for the warning. */
struct victims {
  struct line *names;
  int count;
};

static void name_victim(struct init *init, pid_t pid, void *context) {
  struct victims *victims = context;
  (void)init;
  if (!child_alive(pid) || ++victims->count > NAMED)
    return;
  line_format(victims->names, "%s%d (%s)", victims->count > 1 ? ", " : "",
              (int)pid, CHILD_NAME(pid));
}

static void stop_child(struct init *init, pid_t pid, void *context) {
  (void)init, (void)context;
  kill(pid, SIGSTOP);
}

static void kill_child(struct init *init, pid_t pid, void *context) {
  (void)init, (void)context;
  kill(pid, SIGKILL);
}

/* One round of killing; returns how many children there were. A subreaper first
 * stops them, so that they cannot fork while the list is read again. */
static int kill_all(struct init *init, nanoseconds limit) {
  if (signal_namespace(init, SIGKILL))
    return REAP_BATCH;
  children_visit(init, stop_child, NULL, limit);
  return children_visit(init, kill_child, NULL, limit);
}

/* The grace period is over. Returns true when nobody is left. */
static bool kill_rest(struct init *init, struct draining *draining) {
  nanoseconds start = now();
  nanoseconds last_death = start;
  init->killing = true;

  for (;;) {
    nanoseconds time = now();
    if (time >= last_death + kill_patience || time >= start + kill_limit)
      return false;
    int left = kill_all(init, time + kill_patience);
    if (left == 0)
      return true;
    for (left += REAP_BATCH; left > 0; left -= REAP_BATCH) {
      uint64_t before = init->status->orphans_reaped;
      enum reap_result reaped = reap(init);
      if (reaped == REAP_NOBODY)
        return true;
      if (init->status->orphans_reaped != before)
        last_death = now();
      if (reaped == REAP_IDLE) {
        receive(init, draining, now() + list_soonest);
        break;
      }
    }
  }
}

void drain(struct init *init) {
  if (!init->adopts) {
    log_line(LOG_VERBOSE, "neither PID 1 nor a subreaper (-s): orphans are "
                          "left to others");
    return;
  }

  if (!children_any())
    return;

  struct draining draining = {.start = now()};
  draining.deadline = grace_end(init, draining.start);
  draining.half =
      draining.deadline == NEVER
          ? draining.start + usual_half
          : draining.start + (draining.deadline - draining.start) / 2;
  draining.group_told =
      init->term_forwarded != NEVER &&
      later(init->term_forwarded, init->options.kill_after) >= draining.start;

  status_begin(init->status);
  init->status->state = STATE_DRAINING;
  status_end(init->status);
  children_visit(init, count_left_behind, NULL, draining.deadline);
  if (ask(init, &draining))
    return;

  char text[256] = "";
  struct line names = LINE(text);
  struct victims victims = {.names = &names};
  children_visit(init, name_victim, &victims, now() + SECOND);
  bool gone = kill_rest(init, &draining);
  if (init->killed > 0)
    log_line(LOG_WARNING, "killed %u that had not ended in time%s%s%s",
             init->killed, victims.count > 0 ? ": " : "", text,
             victims.count > NAMED ? ", ..." : "");
  if (!gone)
    log_line(LOG_WARNING, "some processes cannot be killed: leaving them");
}
