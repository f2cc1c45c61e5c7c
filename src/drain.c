#include "drain.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
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

/* Killing goes on while it helps: for so many turns without a death, about two
 * seconds, and for so many in all. What is left then cannot be killed: another
 * user's set-user-ID program, a process stuck in the kernel, a zombie that its
 * tracer holds. In turns and not in time, of which hundreds of chains of forks
 * leave us little: seconds may go by before we run again. */
enum { KILL_TURNS = 300, KILL_IDLE_TURNS = 15 };

/* A list that takes longer is left, and begun again after some reaping. */
static const nanoseconds list_limit = 30 * SECOND;

/* How many of those that had to be killed are named. */
enum { NAMED = 5 };

struct draining {
  nanoseconds start;
  nanoseconds deadline; /* the end of the grace period; then of a turn */
  nanoseconds half;     /* the second wave; NEVER once it was sent */
  nanoseconds pause;    /* from one list to the next */
  bool group_told;      /* SIGTERM was forwarded to the entrypoint's group */
  bool met;             /* all that were left behind have been counted */
  struct line *names;   /* the first that had to be killed, for the warning */
  int named;
};

/* The processor time that we have used. */
static nanoseconds effort(void) { return call_clock(CLOCK_THREAD_CPUTIME_ID); }

static nanoseconds longer(nanoseconds one, nanoseconds other) {
  return one > other ? one : other;
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
  return longer(from_stop, least);
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

static void count_left_behind(struct init *init) {
  status_begin(init->status);
  init->status->left_behind++;
  status_end(init->status);
}

static void meet_child(struct init *init, pid_t pid, void *context) {
  (void)context;
  if (child_alive(pid))
    count_left_behind(init);
}

static void tell_child(struct init *init, pid_t pid, void *context) {
  struct draining *draining = context;
  if (!child_mark(pid, CHILD_TOLD))
    return;
  /* Under a storm most are zombies: one look at each must do. */
  if (!child_alive(pid)) {
    child_mark(pid, CHILD_KILLED);
    return;
  }
  if (!draining->met)
    count_left_behind(init);
  /* A second SIGTERM makes some programs end without cleaning up. */
  if (draining->group_told && getpgid(pid) == init->entrypoint.pid)
    return;
  if (log_level >= LOG_VERBOSE)
    log_line(LOG_VERBOSE, "drain: telling process %d (%s)", (int)pid,
             child_name(pid));
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
  int count = signals_receive(init, until);
  for (int i = 0; i < count; i++) {
    int signal = (int)init->records[i].ssi_signo;
    if (!is_stop_signal(signal) || init->options.rewrite[signal] == 0)
      continue;
    nanoseconds time = now();
    bool again = init->last_stop == NEVER || time >= init->last_stop + SECOND;
    init->last_stop = time;
    if (again && time >= draining->start + SECOND && !init->killing) {
      log_line(LOG_VERBOSE, "drain: %s ends the grace period",
               signal_name(signal));
      draining->deadline = time;
    }
  }
}

/* Signal all children. Returns how many there are, or -1 if it was the whole
 * namespace: then there is nothing to list, only to reap. */
typedef int signal_all(struct init *init, struct draining *draining);

static int tell_all(struct init *init, struct draining *draining) {
  int count = children_visit(init, tell_child, draining, draining->deadline);
  if (count < 0 && !draining->met)
    tell_namespace(init);
  draining->met = true;
  return count;
}

static void kill_child(struct init *init, pid_t pid, void *context) {
  (void)init, (void)context;
  if (child_mark(pid, CHILD_KILLED))
    kill(pid, SIGKILL);
}

static void name_victim(struct init *init, pid_t pid, void *context) {
  struct draining *draining = context;
  (void)init;
  if (draining->named > NAMED || !child_killed(pid) ||
      ++draining->named > NAMED)
    return;
  line_format(draining->names, "%s%d (%s)", draining->named > 1 ? ", " : "",
              (int)pid, child_name(pid));
}

static int kill_all(struct init *init, struct draining *draining) {
  int count = -1;
  if (!signal_namespace(init, SIGKILL))
    count = children_visit(init, kill_child, NULL, draining->deadline);
  /* First things first: their names stay until they are reaped. */
  if (draining->named == 0)
    children_visit(init, name_victim, draining, now() + SECOND);
  return count;
}

/* One turn: signal all, then reap, then sleep until a signal comes or it is
 * time for the next turn. Returns false when nobody is left.
 * Signalling comes first: under a storm of orphans a drain that reaps until
 * nothing is ready never gets to it. And it must not keep us from reaping. So
 * each may take as long as the other: in processor time, since a storm leaves
 * us little of it. */
static bool turn(struct init *init, struct draining *draining,
                 signal_all *signal) {
  const nanoseconds begin = effort();
  int count = signal(init, draining);
  nanoseconds time = now();
  /* A list that the deadline cut short has not seen everybody. */
  if (count == 0 && time < draining->deadline)
    return false;
  const nanoseconds end = effort();
  const nanoseconds cost = end - begin;
  const nanoseconds enough = count < 0 ? NEVER : end + cost;
  nanoseconds next =
      time + (count < 0 ? list_latest : longer(draining->pause, cost));
  draining->pause = earlier(2 * draining->pause, list_latest);

  for (;;) {
    const uint64_t before = init->status->orphans_reaped;
    enum reap_result reaped = reap(init);
    if (reaped == REAP_NOBODY)
      return false;
    time = now();
    if (init->status->orphans_reaped != before) {
      draining->pause = list_soonest;
      next = earlier(next, time + longer(list_soonest, cost));
    }
    nanoseconds wake =
        earlier(next, earlier(draining->deadline, draining->half));
    receive(init, draining, reaped == REAP_MORE ? 0 : wake);
    time = now();
    if (time >= draining->deadline || time >= draining->half)
      return true;
    if (time >= next && (reaped == REAP_IDLE || effort() >= enough))
      return true;
  }
}

/* The grace period. Returns true when nobody is left. */
static bool ask(struct init *init, struct draining *draining) {
  while (turn(init, draining, tell_all)) {
    nanoseconds time = now();
    if (time >= draining->deadline)
      return false;
    if (time >= draining->half)
      second_wave(init, draining);
  }
  return true;
}

/* The grace period is over. Returns true when nobody is left. */
static bool kill_rest(struct init *init, struct draining *draining) {
  init->killing = true;
  draining->half = NEVER;
  draining->pause = list_soonest;
  for (int all = 0, idle = 0; all < KILL_TURNS && idle < KILL_IDLE_TURNS;
       all++, idle++) {
    const uint64_t before = init->status->orphans_reaped;
    draining->deadline = now() + list_limit;
    if (!turn(init, draining, kill_all))
      return true;
    if (init->status->orphans_reaped != before)
      idle = 0;
  }
  return false;
}

void drain(struct init *init) {
  if (!init->adopts) {
    log_line(LOG_VERBOSE, "not PID 1, and no -s: orphans are left to others");
    return;
  }

  if (!children_any())
    return;

  char text[256];
  struct line names = LINE(text);
  struct draining draining = {
      .start = now(), .pause = list_soonest, .names = &names};
  draining.deadline = grace_end(init, draining.start);
  draining.half =
      draining.deadline == NEVER
          ? draining.start + usual_half
          : draining.start + (draining.deadline - draining.start) / 2;
  draining.group_told =
      init->term_forwarded != NEVER &&
      later(init->term_forwarded, init->options.kill_after) >= draining.start;

  init->status = status_share(init->status);
  status_begin(init->status);
  init->status->state = STATE_DRAINING;
  status_end(init->status);
  if (draining.deadline == draining.start)
    children_visit(init, meet_child, NULL, draining.start + SECOND);
  else if (ask(init, &draining))
    return;

  bool gone = kill_rest(init, &draining);
  if (init->killed > 0)
    log_line(LOG_WARNING, "killed %u that had not ended in time%s%s%s",
             init->killed, draining.named > 0 ? ": " : "", text,
             draining.named > NAMED ? ", ..." : "");
  if (!gone)
    log_line(LOG_WARNING, "some processes cannot be killed: leaving them");
}
