#!/usr/bin/env bash
# faults.bash SHARED CODE OUTPUT WHO PLACE PROGRAM...: make each system call of
# a foster fail that is launched so, with every errno of faults.table, and see
# whether the outcome is the table's. Undisturbed it ends with exit code CODE
# and has written OUTPUT, a pattern, to stdout; WHO is what it is in the table.
#
# No part of faults.bats, since bats makes bash slow. Works in the current
# folder; SHARED is one where all such runs note what they have tried.
set -u

folder_of_tests=${BASH_SOURCE[0]%/*}
shared=$1 expected_code=$2 expected_output=$3 init_is=$4 place=$5
command=("${@:6}")

# FAULTS=all: each occurrence of a call in each mode of launching it. Else those
# count as one that differ in numbers and results alone, whatever the mode.
: "${FAULTS:=each}"
: "${FAULTS_AT_ONCE:=4}"

# The launcher makes PID namespaces; no root needed.
user_namespace=()
((EUID == 0)) || user_namespace=(unshare -Urm)

rows_who=() rows_call=() rows_errnos=() rows_outcome=()
while IFS=$'\t' read -r who call errnos outcome; do
  [[ -n $who && $who != \#* ]] || continue
  rows_who+=("$who") rows_call+=("$call")
  rows_errnos+=("$errnos") rows_outcome+=("$outcome")
done <"$folder_of_tests/faults.table"

# find_row WHO LINE: its row's number in $row.
find_row() {
  for row in "${!rows_who[@]}"; do
    [[ $1 == "${rows_who[row]}" && $2 =~ ^(${rows_call[row]}) ]] && return
  done
  echo "not in faults.table: $1: $2" >&2
  return 1
}

# launch FOLDER STRACE_OPTION...: run it in a folder of its own, with stdout to
# a pipe that is open as long as anybody lives who was left behind.
launch() {
  mkdir "$1" && cd "$1" || exit
  shift
  {
    timeout -k 1 "${PATIENCE:-60}" "${user_namespace[@]}" \
      strace -f -qq -o trace "$@" \
      "$PROBE" launch "$place" "$FOSTER" "${command[@]}" </dev/null 2>stderr
    echo $? >code
  } | cat >stdout
}

# In how many lines foster has said something, but for those that are of its
# usual business, and whose number may vary: $said.
count_said() {
  said=0
  local line
  while IFS= read -r line; do
    case $line in
    *"reaped orphan"* | *"killed "[12]" that"*) ;;
    foster:*) said=$((said + 1)) ;;
    esac
  done <stderr
}

# A report, where it was asked for, is whole.
is_reported() {
  [[ ${command[*]} != *"-R report"* ]] && return
  local report
  report=$(<report)
  [[ $report == '{"version":'*"\"exit_code\":$expected_code,"*'}'* ]]
}

# What came of it, in the words of the table.
outcome_here() {
  local code said output as_usual=
  code=$(<code)
  output=$(<stdout)
  count_said
  # shellcheck disable=SC2053 # it is a pattern
  [[ $code == "$expected_code" && $output == $expected_output ]] && as_usual=1
  if [[ $output == *outlived* ]]; then
    outcome=lingers
  elif [[ $as_usual && $said -eq $normal ]] && is_reported; then
    outcome=silent
  elif [[ $as_usual && $said -eq $((normal + 1)) ]]; then
    outcome=warns
  elif [[ $as_usual && $said -eq $((normal - 1)) ]]; then
    outcome=loses
  elif [[ -z $output && $said == 1 && $code =~ ^(1|125|126|127)$ ]]; then
    outcome=${code/125/fatal}
  else
    outcome="exit code $code, $said lines${output:+, stdout: $output}"
  fi
}

agrees() {
  case $2 in
  # 127 for 126: it could not see that the file is there.
  any) [[ $1 == silent || $1 == warns || $1 == loses ||
    ($1 == 127 && $expected_code == 126) ]] ;;
  lingers) [[ $1 == silent || $1 == warns || $1 == lingers ]] ;;
  answers) [[ $1 == silent || $1 == 1 ]] ;;
  126 | 127) [[ $1 == "$2" || ($1 == silent && $expected_code == "$2") ]] ;;
  *) [[ $1 == "$2" ]] ;;
  esac
}

# inject FOLDER CALL NUMBER ERRNO OUTCOME LINE
inject() {
  local call=$2 number=$3 errno=$4 expected=$5 line=$6 outcome trace
  # Stopped at this call only: without /proc init asks for 4 million pids.
  launch "$1" --seccomp-bpf -e "trace=$call" -e "inject=$call:error=$errno:when=$number"
  outcome_here
  trace=$(<trace)
  if [[ $trace == *INJECTED* ]]; then
    echo "${outcome%%,*}" >kind
  else
    # Runs differ in how often init wakes. It has to go well, of course.
    expected=any
    echo unreached >kind
  fi
  if agrees "$outcome" "$expected"; then
    rm trace stdout stderr code
    return
  fi
  {
    echo "$errno at $call number $number: $outcome; should be: $expected"
    echo "  $line"
    sed 's/^/  /' stderr
  } >wrong
}

(launch normal)
normal=0
cd normal || exit
count_said
normal=$said
outcome_here
cd .. || exit
if [[ $outcome != silent ]]; then
  echo "without a fault: $outcome" >&2
  cat normal/stderr >&2
  exit 1
fi
awk -v who="$init_is" -f "$folder_of_tests/faults.awk" normal/trace >calls
if [[ ! -s calls ]]; then
  echo "no foster in the trace" >&2
  exit 1
fi

declare -A tried=()
while IFS= read -r key; do
  tried[$key]=1
done < <(cat "$shared/tried" 2>/dev/null)
total=0 unknown=0
while IFS=$'\t' read -r who call number key line; do
  find_row "$who" "$line" || unknown=1
  [[ ${rows_outcome[row]} != never ]] || continue
  # Without these the program does not hear of the parent's end, or stays
  # stopped.
  [[ $place != orphan || $line != @(prctl|kill)* ]] || continue
  [[ $place != terminal || $line != kill*SIGCONT* ]] || continue
  if [[ $FAULTS != all ]]; then
    key="$who $key"
    # Not again what another run has tried already.
    [[ -z ${tried[$key]-} ]] || continue
    tried[$key]=1
    echo "$key" >>"$shared/tried"
  fi
  IFS=, read -ra each_of <<<"${rows_errnos[row]}"
  for errno in "${each_of[@]}"; do
    if ((total >= FAULTS_AT_ONCE)); then
      wait -n
    fi
    total=$((total + 1))
    inject "fault.$total" "$call" "$number" "$errno" \
      "${rows_outcome[row]}" "$line" &
  done
done <calls
wait

cat fault.*/kind >kinds
cat kinds >>"$shared/kinds"
echo "$total faults: $(sort kinds | uniq -c | tr -s ' \n' ' ')"
if cat fault.*/wrong >&2 2>/dev/null; then
  exit 1
fi
((unknown == 0 && $(wc -l <kinds) == total))
