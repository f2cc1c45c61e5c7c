# From strace's output, for each system call of init and of its child up to the
# program's exec: WHO, CALL, its number in that process, what is the same in all
# that count as one, and the line.
function row(who) {
  key = line
  sub(/ *(= |<unfinished).*/, "", key)
  sub(/, \{(ru|stx)_.*/, "", key)
  gsub(/0x[0-9a-f]+/, "", key)
  if (call ~ /^(read|write|pread64|pwrite64|pwritev2|sendto)$/)
    sub(/,.*/, "", key) # files differ by their numbers
  else
    gsub(/[0-9]+/, "", key)
  if (call == "execve")
    key = call
  sub(/[ ,)]*$/, "", key)
  print who "\t" call "\t" number "\t" key "\t" line
}
{
  pid = $1
  line = $0
  sub(/^[0-9]+ +/, "", line)
  # After vfork the next process that was not heard of before is the child.
  if (spawning && !child && !(pid in known))
    child = pid
  known[pid] = 1
  # From there on what a coverage build has counted is written.
  if (line ~ /^brk\(/)
    over[pid] = 1
  if (over[pid] || line !~ /^[a-z_0-9]+\(/)
    next
  call = line
  sub(/\(.*/, "", call)
  number = ++count[pid, call]
  if (pid == init)
    row(who)
  else if (pid == child && !running)
    row("child")
  if (call == "execveat") # the launcher's last
    init = pid
  else if (call == "vfork" && pid == init)
    spawning = 1
  else if (pid == child && call == "set_tid_address") # the program's first
    running = 1
}
