/* A model of init's loop (src/loop.c, reap.c, forward.c) and drain (drain.c,
 * children.c), for spin(1): all orders in which up to N processes can fork,
 * end, reap their own and be adopted while init does one step after the other.
 * Pids are 1 to N, so they are reused at once. `tests/model/run` checks
 *
 *   aim     a signal goes to a child that is not reaped yet, or to its group
 *   awake   init does not sleep without a signal pending or a clock running
 *           while there is a zombie to reap or, in the drain, a child to tell
 *   heard   init looks at its signals after every BATCH waits at the latest
 *   asked   who is taken to be told, or killed, was
 *   status  the exit status is that of the entrypoint
 *   alone   at the end nobody is left, but who cannot be killed
 *   ends    the drain ends, when the forks are bounded
 *
 * and that each can fail: a MUTATION breaks init in one place.
 *
 * Time has no length: a clock that runs may come due at any moment. So it is
 * taken for granted that SIGKILL works within kill_patience, and that init has
 * killed a storm within kill_limit. Left out: groups (a member is reached as
 * long as its leader's pid is pinned, which is "aim"), stops and the terminal,
 * children that init had before, strangers (a signal to a reaped pid is an
 * error whoever has it now), PID 1 without a list of its children. */

#ifndef N
#define N 4
#endif
#ifndef PID1
#define PID1 0 /* or a subreaper */
#endif
#ifndef HARD
#define HARD 0 /* the pid of a process that cannot be killed */
#endif
#ifndef FORKS
#define FORKS 0 /* how many there are in all; 0 is no limit */
#endif
#ifndef STOPS
#define STOPS 1 /* is init sent a SIGTERM, again and again? */
#endif
#ifndef MUTATION
#define MUTATION 0
#endif
#ifndef ONLY
#define ONLY 0 /* the property that is checked; 0: all */
#endif
#define BATCH 2 /* REAP_BATCH */

#define AIM 1
#define AWAKE 2
#define HEARD 3
#define ASKED 4
#define STATUS 5
#define ALONE 6
#define must(property, what) assert((ONLY != 0 && ONLY != property) || (what))

#define UNFORWARDED (MUTATION == 1) /* reap, then forward what came with it */
#define REAP_IN_LIST (MUTATION == 2) /* reap while the list is read */
#define ONE_WAIT (MUTATION == 3)     /* one wait for a SIGCHLD */
#define ONE_LIST (MUTATION == 4)     /* only a signal makes us list again */
#define UNBOUNDED (MUTATION == 5)    /* reap until nothing is ready */
#define REMEMBER (MUTATION == 6)     /* marks outlive the child */
#define BY_PID (MUTATION == 7)       /* whoever has its pid is the entrypoint */
#define ONLY_LIVING (MUTATION == 8)  /* who is dead is nobody */
#define TRUST_CUT (MUTATION == 9)    /* a list cut short counts like another */
#define KILL_ONCE (MUTATION == 10)   /* list once, then kill no more */

#define INIT 0
#define ENTRYPOINT 1

mtype = {FREE, ALIVE, ZOMBIE, MORE, IDLE, NOBODY, RUN, TELL, WAVE, KILL};

mtype state[5] = FREE;
byte parent[5];
bool told[5], killed[5];           /* was sent SIGTERM, SIGKILL */
bool mark_told[5], mark_killed[5]; /* children.c's bitmaps */
bool sigchld, stop;                /* pending in init's signalfd */
bool original = true;              /* pid 1 is still the entrypoint's */
bool expired;                      /* the grace period is over */
bool over;                         /* init has exited */
mtype phase = RUN;
byte forks = FORKS;

#define any(what) (what(1) || what(2) || what(3) || what(4))
#define ours(p) (state[p] != FREE && parent[p] == INIT)
#define dead(p) (state[p] == ZOMBIE && parent[p] == INIT)
#define untold(p) (state[p] == ALIVE && parent[p] == INIT && !told[p])
#define mortal(p) (ours(p) && p != HARD)
#define dying(p) (killed[p])

/* ---- The tree, and what the kernel does. */

/* exit_notify(): children go to init, which hears of those that are dead. Of
 * the end itself only the parent hears. */
inline end(p) {
  state[p] = ZOMBIE;
  told[p] = false;
  killed[p] = false;
  for (i : 1 .. N) {
    if
    :: state[i] != FREE && parent[i] == p ->
      parent[i] = INIT;
      sigchld = sigchld || state[i] == ZOMBIE
    :: else
    fi
  }
  sigchld = sigchld || parent[p] == INIT;
  i = 0
}

inline release(p) {
  state[p] = FREE;
  parent[p] = INIT;
  original = original && p != ENTRYPOINT
}

inline send(p, signal) {
  if
  :: state[p] == ALIVE && signal == KILL && p != HARD -> killed[p] = true
  :: state[p] == ALIVE && signal != KILL -> told[p] = true
  :: else
  fi
}

/* What processes do, or leave. A pending SIGKILL comes before a fork. */
active proctype tree() {
  byte p, q, i;
  do
  :: over -> break
  :: atomic {
      !over -> select(p : 1 .. N);
      select(q : 1 .. N);
      if
      :: state[p] == ALIVE && q == 1 -> end(p)
      :: state[p] == ALIVE && !killed[p] && state[q] == FREE &&
            (FORKS == 0 || forks > 0) ->
        state[q] = ALIVE;
        parent[q] = p;
        forks = (FORKS == 0 -> 0 : forks - 1)
      :: state[p] == ALIVE && !killed[p] && state[q] == ZOMBIE &&
            parent[q] == p -> release(q)
      :: STOPS && p == 1 && q == 1 && !stop -> stop = true
      :: else
      fi;
      p = 0;
      q = 0
    }
  od
}

active proctype kernel() {
  byte i;
  do
  :: over -> break
  :: d_step { killed[1] -> end(1) }
  :: d_step { killed[2] -> end(2) }
  :: d_step { killed[3] -> end(3) }
  :: d_step { killed[4] -> end(4) }
  od
}

active proctype deadline() {
  if
  :: phase != RUN -> expired = true
  :: over
  fi
}

/* ---- init */

/* signals_receive(), one read of all that is pending. `clock`: it has a
 * deadline. `got_stop`: SIGTERM or SIGINT was among it. */
inline receive(clock) {
  if
  :: d_step {
      reaped == MORE || sigchld || stop || (clock) ->
      waits = 0;
      if
      :: sigchld -> reaped = MORE; sigchld = false
      :: else
      fi;
      got_stop = stop;
      stop = false
    }
  :: !(reaped == MORE || sigchld || stop || (clock)) &&
      (any(dead) || (phase != RUN && any(untold))) ->
    must(AWAKE, false)
  fi
}

/* One wait4(-1, WNOHANG), and what reap() makes of it. */
inline wait4() {
  atomic {
    must(HEARD, waits < BATCH);
    waits++;
    if
    :: dead(1) -> p = 1
    :: dead(2) -> p = 2
    :: dead(3) -> p = 3
    :: dead(4) -> p = 4
    :: !any(dead) && any(ours) -> reaped = IDLE
    :: !any(ours) -> reaped = NOBODY
    fi;
    if
    :: p == ENTRYPOINT && (!ended || BY_PID) ->
      ended = true;
      right = original
    :: p != 0 && !(p == ENTRYPOINT && (!ended || BY_PID)) && !REMEMBER ->
      /* child_forget() */
      mark_told[p] = false;
      mark_killed[p] = false
    :: else
    fi;
    if
    :: p != 0 -> release(p); p = 0
    :: else
    fi
  }
}

/* reap(): at most BATCH waits; the end of the entrypoint is news enough. */
inline reap() {
  reaped = MORE;
  running = !ended;
  do
  :: wait4();
    if
    :: reaped != MORE || (running && ended) -> break
    :: else -> reaped = (ONE_WAIT -> IDLE : MORE)
    fi;
    if
    :: reaped != MORE || (waits == BATCH && !UNBOUNDED) -> break
    :: else
    fi
  od;
  running = false
}

/* tell_child(), tell_group(), kill_child() */
inline signal_child(p, what) {
  d_step {
    must(AIM, ours(p));
    if
    :: what == TELL && mark_told[p] -> must(ASKED, told[p] || dead(p))
    :: what == KILL && mark_killed[p] ->
      must(ASKED, killed[p] || dead(p) || p == HARD)
    :: else ->
      mark_told[p] = mark_told[p] || what == TELL;
      mark_killed[p] = mark_killed[p] || what == KILL ||
                       (what == TELL && dead(p));
      send(p, what)
    fi
  }
}

/* children_visit(). The deadline can cut it short. */
inline visit(what) {
  count = 0;
  cut = false;
  l = 1;
  do
  :: l > N -> break
  :: l <= N && expired && phase == TELL -> cut = true; break
  :: l <= N && !ours(l) -> l++
  :: l <= N && ours(l) ->
    count = count || !ONLY_LIVING || !dead(l);
    if
    :: REAP_IN_LIST -> waits = 0; wait4()
    :: else
    fi;
    signal_child(l, what);
    l++
  od;
  l = 0
}

/* signal_namespace(): kill(-1), which no fork escapes. */
inline signal_namespace(what) {
  d_step {
    for (l : 1 .. N) { send(l, what) }
    l = 0;
    count = true;
    cut = false
  }
}

active proctype foster() {
  byte p, l, waits;
  mtype reaped = MORE;
  bool ended, running, right, got_stop, clock, count, cut, waved;

  state[ENTRYPOINT] = ALIVE;

  /* loop() */
  do
  :: ended -> break
  :: else ->
    receive(clock);
    if
    :: UNFORWARDED && reaped == MORE -> reap()
    :: else
    fi;
    if
    :: got_stop -> /* received_signal(), forward() */
      must(AIM, original);
      got_stop = false;
      if
      :: clock = true /* -t, -p */
      :: true
      fi
    :: else
    fi;
    if
    :: clock -> /* look_at_clock(): due */
      d_step {
        must(AIM, original);
        send(ENTRYPOINT, KILL);
        clock = false
      }
    :: true
    fi;
    if
    :: reaped == MORE && !ended -> reap()
    :: else
    fi
  od;
  clock = false;

  /* drain() */
  if
  :: !any(ours) -> goto exit /* children_any() */
  :: else
  fi;
  phase = TELL;
  waits = 0;
  do
  :: if /* turn(): signal all */
    :: phase == KILL && PID1 -> signal_namespace(KILL)
    :: phase == KILL && !PID1 && !(KILL_ONCE && waved) -> visit(KILL)
    :: phase == KILL && KILL_ONCE && waved
    :: phase == TELL -> visit(TELL)
    fi;
    if
    :: !count && (!cut || TRUST_CUT) -> break
    :: else
    fi;
    do /* then reap, and sleep until a signal or the next turn */
    :: reap();
      if
      :: reaped == NOBODY -> goto exit
      :: else
      fi;
      receive(expired || !ONE_LIST);
      got_stop = false;
      if
      :: expired || !ONE_LIST -> break
      :: reaped == MORE || ONE_LIST
      fi
    od;
    if /* ask(), kill_rest() */
    :: phase == TELL && expired -> phase = KILL; waved = false
    :: phase == TELL && !expired && !waved -> /* second_wave() */
      waved = true;
      if
      :: PID1 -> signal_namespace(WAVE)
      :: else -> visit(WAVE)
      fi
    :: phase == TELL && !expired
    :: d_step { phase == KILL && !any(dead) && !any(mortal) && !any(dying) ->
        over = true
      };
      goto exit /* leaving them */
    :: else -> waved = true
    fi
  od;

exit:
  skip;
  d_step {
    over = true;
    must(STATUS, right);
    must(ALONE, !any(mortal))
  }
}

ltl ends { [] (phase != RUN -> <> over) }
