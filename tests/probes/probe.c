/* The table of probes, and main(). */
#include "probe.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  probe_main *run;
  const char *usage;
} probes[] = {
    {"abandon", probe_abandon,
     "PROGRAM...: run it while the foreground is a dead group's"},
    {"adoption", probe_adoption,
     ": at SIGUSR1 kill a child that has a child, wait for it, and stay"},
    {"again", probe_again, "N PROGRAM...: exec itself N times, then run it"},
    {"asks", probe_asks,
     "[leaves|queued|orphans|ends|stops]...: 42 if a signal sent to the parent "
     "comes back"},
    {"attack", probe_attack, "PID: try to harm that foster's status page"},
    {"clone", probe_clone, "SIGNAL: orphan a child with that exit signal"},
    {"daemon", probe_daemon, "PROGRAM...: fork, setsid, fork, run it"},
    {"deny", probe_deny,
     "ERRNO CALL,CALL... PROGRAM...: run it where these calls give this errno"},
    {"descriptors", probe_descriptors, "[PREFIX]: list its own descriptors"},
    {"env", probe_env, "NAME...: its pid, then these variables"},
    {"flood", probe_flood,
     "PID SIGNALS: send them until it is gone, as fast as can be"},
    {"heirs", probe_heirs,
     "N: at SIGTERM leave a child in a session of its own, N times over"},
    {"held", probe_held,
     "PLACE FILE PROGRAM...: run it, and hold its first child by vfork at "
     "PLACE "
     "(group, foreground, mask, exec), with FILE there, until its tracer is "
     "killed"},
    {"hold", probe_hold, ": stay"},
    {"ids", probe_ids, ": pid, parent, group, session; by number"},
    {"ignore", probe_ignore, "SIGNALS [PROGRAM...]: ignore them, and stay"},
    {"inherit", probe_inherit,
     "SIGNAL FIFO PROGRAM...: run it with a child that ends at FIFO's EOF and "
     "has that exit signal"},
    {"launch", probe_launch,
     "plain|pid1|pause|status|orphan|terminal PROGRAM...: run it there, for "
     "faults.bats"},
    {"leader", probe_leader, ": end the main thread, go on in another"},
    {"marked", probe_marked,
     "NAME=VALUE: the processes that have this in their environment; 1 if none "
     "has"},
    {"master", probe_master,
     "N: a session with N workers that it ends at SIGTERM; who told whom"},
    {"moves", probe_moves,
     "group|session PROGRAM...: run it there, away from its own"},
    {"negligent", probe_negligent, "N: have N zombies, never wait for them"},
    {"orphans", probe_orphans,
     "N [held]: orphan N children that end at once, or when told by SIGUSR1"},
    {"page", probe_page, "[SIZE]: pass stdin off as a foster's status page"},
    {"pair", probe_pair, "[LAST]: like signals, with a child in the group"},
    {"press", probe_press,
     "FILE [INIT PROGRAM MILLISECONDS [SIGNAL]]: storm a soak with signals; "
     "or say how many, and how many orphans"},
    {"pty", probe_pty,
     "LOG [loose] PROGRAM...: run it on a terminal (loose: not its controlling "
     "one); commands on stdin, an answer to each on stdout"},
    {"raise", probe_raise, "SIGNAL: send it to itself, then stay"},
    {"send", probe_send, "PID SIGNAL...: kill(2)"},
    {"sigqueue", probe_sigqueue, "PID SIGNAL VALUE...: sigqueue(3)"},
    {"session", probe_session,
     "PROGRAM...: run it as a session leader; its terminal is stdin"},
    {"signals", probe_signals, "[LAST]: print each until LAST (15) came"},
    {"sleepers", probe_sleepers,
     "N [apart]: leave N children behind; 0: all there can be"},
    {"slow", probe_slow, "MILLISECONDS: end so long after SIGTERM"},
    {"soak", probe_soak,
     "FILE CHAINS CODE [OBEDIENT STUBBORN]: make orphans while press says so, "
     "leave some at SIGTERM"},
    {"state", probe_state, ": mask and disposition of each signal"},
    {"storm", probe_storm,
     "CHAINS SECONDS [MS]: chains of fork, setsid, exit; until SIGTERM, or "
     "left "
     "behind so soon, exit code 7"},
    {"thread", probe_thread,
     "PROGRAM...: run it from a thread that ends at SIGUSR1, and stay"},
    {"told", probe_told, "[NAME]: say whether SIGTERM is from the parent"},
    {"trace", probe_trace, "PID: be its tracer, and stay"},
    {"with", probe_with,
     "[block=SIGNALS] [ignore=SIGNALS] [pending=SIGNALS] [close=N,N] "
     "[uid=N] PROGRAM...: run it so"},
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof probes / sizeof *probes; i++)
    if (strcmp(probes[i].name, argv[1]) == 0)
      return probes[i].run(argc - 1, argv + 1);
  for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
    fprintf(stderr, "probe %s %s\n", probes[i].name, probes[i].usage);
  return 98;
}
