/* Job control, as if foster were not there. Every error here (ENOTTY, EIO of a
 * hung-up terminal, EPERM of another session) means going on without. */
#ifndef FOSTER_TERMINAL_H
#define FOSTER_TERMINAL_H

#include "init.h"

/* Find the controlling terminal, and whether the entrypoint is to have its
 * foreground, which takes that our own group has it. Without one terminal->fd
 * stays -1, as it was, and nothing here touches any. */
void terminal_find(struct terminal *terminal);

/* Make group the foreground group (tcsetpgrp(3)). From the background too,
 * since SIGTTOU is blocked. */
void terminal_set_foreground(const struct terminal *terminal, pid_t group);

/* init received `signal`; from_kernel: as the terminal sends one, so all of its
 * group did. Returns true if it is not to be forwarded: the entrypoint stays in
 * our group and got it too; or another one of our group wants the terminal,
 * which is given to it. */
bool terminal_signal(struct init *init, int signal, bool from_kernel);

/* init received SIGCONT: if our own group has the foreground ("fg"), it is for
 * the entrypoint. */
void terminal_continue(struct init *init);

/* The entrypoint was stopped by `signal`. Give it the terminal if it wants that
 * and it is ours; else stop too, so that the shell that waits for us sees it;
 * or, where nobody could resume us (PID 1, a session leader, an orphaned
 * group), continue the entrypoint. */
void terminal_stopped(struct init *init, int signal);

/* Continue the entrypoint now: terminal.resume_at has come. */
void terminal_resume(struct init *init);

/* The entrypoint has ended: take the foreground back to our own group, if it
 * was handed over. */
void terminal_give_back(const struct init *init);

/* If the entrypoint died of a SIGINT or SIGQUIT that came from the terminal and
 * not through init, do the same, so that the script or loop around init ends
 * too. Returns if there is no reason to, or if -e expects it. */
void terminal_die_alike(const struct init *init);

#endif
