#!/usr/bin/env bats
# foster as PID 1 of a machine of its own, with Debian's kernels: an initramfs of
# busybox, foster, the probe, and the tests in it (smoke). A kernel is booted
# once; what its tests have written to the serial console is looked up here.

bats_require_minimum_version 1.5.0
load ../helpers

setup_file() {
  needs_machine
  local root=$BATS_FILE_TMPDIR/root program
  mkdir -p "$root"/{bin,dev,proc,sys,tmp}
  install -m 755 "$(command -v busybox)" "$FOSTER" "$PROBE" \
    "$BATS_TEST_DIRNAME"/{entrypoint,smoke} "$root/bin"
  for program in $("$root/bin/busybox" --list); do
    ln -s busybox "$root/bin/$program" 2>/dev/null || :
  done
  (cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) \
    >"$BATS_FILE_TMPDIR/initramfs"
}

# Why there can be none here, as the skip's reason.
needs_machine() {
  command -v qemu-system-x86_64 >/dev/null ||
    skip "qemu-system-x86_64 is not installed"
  command -v busybox >/dev/null || skip "busybox is not installed"
  # The kernels, and so their programs, are for this machine.
  [[ $(uname -m) == x86_64 ]] || skip "no kernel for $(uname -m)"
}

# The kernel starts init with what is behind "--"; it panics at init's end, which
# with panic=-1 ends the machine.
boot() {
  local kernel=$1 console=$2
  timeout --foreground -k 5 600 qemu-system-x86_64 -accel tcg -m 256 -no-reboot \
    -display none -monitor none -nodefaults -serial stdio -kernel "$kernel" \
    -initrd "$BATS_FILE_TMPDIR/initramfs" -append "console=ttyS0 loglevel=1 \
    panic=-1 rdinit=/bin/foster -- -k 0.5 /bin/entrypoint" \
    </dev/null 2>&1 3>&- | tr -d '\r' >"$console"
}

# item RELEASE VERSION NAME: its line in what that kernel's machine has said.
item() {
  local release=$1 console=$BATS_FILE_TMPDIR/$1 kernels=$BUILD/kernels found
  [[ -e $kernels/$release/vmlinuz ]] ||
    skip "$(cat "$kernels/$release/reason" 2>/dev/null || echo "no kernel")"
  [[ -e $console ]] || boot "$kernels/$release/vmlinuz" "$console"
  matches "$(grep '^# kernel ' "$console")" "^# kernel $2[.]"
  found=$(grep -E "^(not )?ok [0-9]+ $3( |\$)" "$console") || found='no result'
  [[ $found == "ok "* ]] || {
    cat "$console" >&2
    return 1
  }
}

# The exit code of PID 1 is in the kernel's last words; what it said before is
# about the one that did not end.
end() {
  item "$@" machine_drain
  grep -qE "Attempted to kill init! exitcode=0x00002a00" "$BATS_FILE_TMPDIR/$1"
  grep -qE "^foster: killed 1 that had not ended in time: [0-9]+ \(probe\)" \
    "$BATS_FILE_TMPDIR/$1"
}

bullseye() { item bullseye 5.10 "$@"; }
bookworm() { item bookworm 6.1 "$@"; }
trixie() { item trixie 6.12 "$@"; }

@test "kernels: Linux 5.10: exit codes" { bullseye spawn; }
@test "kernels: Linux 5.10: each signal from 1 to 64 arrives once" { bullseye forward; }
@test "kernels: Linux 5.10: queued values, for a group and for one" { bullseye values; }
@test "kernels: Linux 5.10: orphans are reaped" { bullseye adopt; }
@test "kernels: Linux 5.10: what is left behind is told" { bullseye drain; }
@test "kernels: Linux 5.10: who ignores that is killed" { bullseye deaf; }
@test "kernels: Linux 5.10: so too without /proc" { bullseye no_proc; }
@test "kernels: Linux 5.10: --status" { bullseye status; }
@test "kernels: Linux 5.10: nobody can harm the status page" { bullseye page; }
@test "kernels: Linux 5.10: --report" { bullseye report; }
@test "kernels: Linux 5.10: -p" { bullseye parent; }
@test "kernels: Linux 5.10: the OOM killer struck, with cgroup v2" { bullseye oom; }
@test "kernels: Linux 5.10: the OOM killer did not" { bullseye no_oom; }
@test "kernels: Linux 5.10: each signal arrives once: the machine's init" { bullseye machine_forward; }
@test "kernels: Linux 5.10: a queued value: the machine's init" { bullseye machine_values; }
@test "kernels: Linux 5.10: --status: the machine's init" { bullseye machine_status; }
@test "kernels: Linux 5.10: drain, and exit code: the machine's init" { end bullseye 5.10; }

@test "kernels: Linux 6.1: exit codes" { bookworm spawn; }
@test "kernels: Linux 6.1: each signal from 1 to 64 arrives once" { bookworm forward; }
@test "kernels: Linux 6.1: queued values, for a group and for one" { bookworm values; }
@test "kernels: Linux 6.1: orphans are reaped" { bookworm adopt; }
@test "kernels: Linux 6.1: what is left behind is told" { bookworm drain; }
@test "kernels: Linux 6.1: who ignores that is killed" { bookworm deaf; }
@test "kernels: Linux 6.1: so too without /proc" { bookworm no_proc; }
@test "kernels: Linux 6.1: --status" { bookworm status; }
@test "kernels: Linux 6.1: nobody can harm the status page" { bookworm page; }
@test "kernels: Linux 6.1: --report" { bookworm report; }
@test "kernels: Linux 6.1: -p" { bookworm parent; }
@test "kernels: Linux 6.1: the OOM killer struck, with cgroup v2" { bookworm oom; }
@test "kernels: Linux 6.1: the OOM killer did not" { bookworm no_oom; }
@test "kernels: Linux 6.1: each signal arrives once: the machine's init" { bookworm machine_forward; }
@test "kernels: Linux 6.1: a queued value: the machine's init" { bookworm machine_values; }
@test "kernels: Linux 6.1: --status: the machine's init" { bookworm machine_status; }
@test "kernels: Linux 6.1: drain, and exit code: the machine's init" { end bookworm 6.1; }

@test "kernels: Linux 6.12: exit codes" { trixie spawn; }
@test "kernels: Linux 6.12: each signal from 1 to 64 arrives once" { trixie forward; }
@test "kernels: Linux 6.12: queued values, for a group and for one" { trixie values; }
@test "kernels: Linux 6.12: orphans are reaped" { trixie adopt; }
@test "kernels: Linux 6.12: what is left behind is told" { trixie drain; }
@test "kernels: Linux 6.12: who ignores that is killed" { trixie deaf; }
@test "kernels: Linux 6.12: so too without /proc" { trixie no_proc; }
@test "kernels: Linux 6.12: --status" { trixie status; }
@test "kernels: Linux 6.12: nobody can harm the status page" { trixie page; }
@test "kernels: Linux 6.12: --report" { trixie report; }
@test "kernels: Linux 6.12: -p" { trixie parent; }
@test "kernels: Linux 6.12: the OOM killer struck, with cgroup v2" { trixie oom; }
@test "kernels: Linux 6.12: the OOM killer did not" { trixie no_oom; }
@test "kernels: Linux 6.12: each signal arrives once: the machine's init" { trixie machine_forward; }
@test "kernels: Linux 6.12: a queued value: the machine's init" { trixie machine_values; }
@test "kernels: Linux 6.12: --status: the machine's init" { trixie machine_status; }
@test "kernels: Linux 6.12: drain, and exit code: the machine's init" { end trixie 6.12; }
