/* Programs that the tests run under foster, in one binary: probe NAME ARG...
 * Each writes READY to stdout when it is; a file each, and a row in probe.c. */
#ifndef FOSTER_PROBE_H
#define FOSTER_PROBE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Each gets its own arguments alone, argv[0] being its name, and returns its
 * exit code. */
typedef int probe_main(int argc, char **argv);

probe_main probe_abandon, probe_adoption, probe_again, probe_asks, probe_attack,
    probe_clone, probe_daemon, probe_deny, probe_descriptors, probe_env,
    probe_flood, probe_heirs, probe_held, probe_hold, probe_ids, probe_ignore,
    probe_inherit, probe_launch, probe_leader, probe_marked, probe_master,
    probe_moves, probe_negligent, probe_orphans, probe_page, probe_pair,
    probe_press, probe_pty, probe_raise, probe_send, probe_session,
    probe_signals, probe_sigqueue, probe_sleepers, probe_slow, probe_soak,
    probe_state, probe_storm, probe_thread, probe_told, probe_trace, probe_with;

/* No probe lives longer: whatever a test forgets ends by itself. */
enum { PROBE_LIFETIME = 300 };

/* Write a line to stdout, at once. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say what failed, with errno, and exit 98. */
_Noreturn void fail(const char *what);

/* A number from an argument, or exit 98. */
long number(const char *text);

/* fork(2), or exit 98. */
pid_t fork_or_fail(void);

/* execvp(3), or exit 98. */
_Noreturn void exec_or_fail(char **argv);

/* Sleep until a signal ends the process, or its lifetime does. */
_Noreturn void hold(void);

/* CLOCK_MONOTONIC in seconds. */
double now(void);

/* The kernel's own view of signals, since a libc keeps some to itself. A set
 * has bit N-1 for signal N. */
typedef uint64_t sigbits;
#define ALL_SIGNALS (~(sigbits)0)
enum { LAST_SIGNAL = 64 };
static inline sigbits bit(int sig) { return (sigbits)1 << (sig - 1); }

/* The set in "10,34,64", or "all". */
sigbits signal_list(const char *text);
/* Set the mask; returns the one before. */
sigbits set_mask(sigbits mask);
/* SIG_DFL or SIG_IGN for every signal of the set that can have it. */
void set_dispositions(sigbits set, bool ignored);
/* The signals that are ignored. */
sigbits ignored_signals(void);
/* Take one pending signal of the set, within some seconds; 0 if none came. */
int wait_signal(sigbits set, double seconds, siginfo_t *info);
/* kill(2), also for signals that libc refuses. */
int send_signal(pid_t pid, int sig);
/* rt_sigqueueinfo(2) with SI_QUEUE. */
int queue_signal(pid_t pid, int sig, int value);

#endif
