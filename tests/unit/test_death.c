/* Who killed the program, by fixtures of every layout of cgroups. */
#include "death.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char root[] = "/tmp/foster-death-XXXXXX";

/* Commands of the shell, in the root. */
static void run(const char *commands) {
  if (chdir(root) < 0 || system(commands) != 0) {
    perror(commands);
    exit(1);
  }
}

/* A file below the root, and its folders. */
static void put(const char *path, const char *text) {
  CHECK(setenv("file", path, 1) == 0 && setenv("text", text, 1) == 0);
  run("mkdir -p \"$(dirname \".$file\")\" && printf \"$text\" >\".$file\"");
}

/* A folder of a cgroup that lists us. */
static void put_cgroup(const char *folder, const char *file, const char *text) {
  char buffer[256];
  struct line line = LINE(buffer);
  line_format(&line, "%s/%s", folder, file);
  put(buffer, text);
  CHECK(setenv("folder", folder, 1) == 0);
  run("printf '1000001\\n%d\\n1000002\\n' $PPID >\".$folder/cgroup.procs\"");
}

static void clean(void) { run("rm -rf -- *"); }

#define V2_EVENTS                                                              \
  "low 0\\nhigh 0\\nmax 91\\noom 4\\noom_kill 3\\noom_group_kill 1\\n"
#define V1_CONTROL "oom_kill_disable 0\\nunder_oom 0\\noom_kill 5\\n"
#define V1_CGROUPS                                                             \
  "9:name=systemd:/docker/abc\\n5:devices:/docker/abc\\n"                      \
  "4:memory:/docker/abc\\n1:cpu,cpuacct:/docker/abc\\n0::/docker/abc\\n"

static void lines_of_cgroups(void) {
  const struct {
    const char *line, *path;
    bool v1;
  } cases[] = {
      {"0::/", "/", false},
      {"0::/docker/abc", "/docker/abc", false},
      {"4:memory:/docker/abc", "/docker/abc", true},
      {"4:cpu,memory:/a:b,c", "/a:b,c", true},
      {"4:memory,cpu:/a", "/a", true},
      {"4:cpu,cpuacct:/a", NULL, false},
      {"4:memoryx:/a", NULL, false},
      {"4:xmemory:/a", NULL, false},
      {"1:name=memory:/a", NULL, false},
      {"10::/a", NULL, false},
      {"4:cpu:/memory:/a", NULL, false},
      {"4:memory", NULL, true},
      {"4:", NULL, false},
      {"4", NULL, false},
      {"", NULL, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool v1 = !cases[i].v1;
    const char *path = memory_cgroup(cases[i].line, &v1);
    CHECK_STRING(path ? path : "(none)",
                 cases[i].path ? cases[i].path : "(none)");
    CHECK_NUMBER(v1, cases[i].v1);
  }
}

static void v2(void) {
  /* A cgroup namespace of our own: both begin at our cgroup. */
  put("/proc/self/cgroup", "0::/\\n");
  put_cgroup("/sys/fs/cgroup", "memory.events", V2_EVENTS);
  CHECK_NUMBER(oom_kills_under(root, true), 3);
  clean();
  /* The host's namespace, and all of its hierarchy. */
  put("/proc/self/cgroup", "0::/system.slice/docker-abc.scope\\n");
  put("/sys/fs/cgroup/cgroup.procs", "1000001\\n");
  put_cgroup("/sys/fs/cgroup/system.slice/docker-abc.scope", "memory.events",
             V2_EVENTS);
  CHECK_NUMBER(oom_kills_under(root, true), 3);
  clean();
  /* The host's namespace, but only our own cgroup is mounted. */
  put("/proc/self/cgroup", "0::/system.slice/docker-abc.scope\\n");
  put_cgroup("/sys/fs/cgroup", "memory.events", V2_EVENTS);
  CHECK_NUMBER(oom_kills_under(root, true), 3);
  clean();
  /* No memory controller there. */
  put("/proc/self/cgroup", "0::/\\n");
  put_cgroup("/sys/fs/cgroup", "cpu.stat", "");
  CHECK_NUMBER(oom_kills_under(root, true), -1);
  clean();
}

static void v1(void) {
  /* Docker: our own cgroup is mounted, its path is the host's. */
  put("/proc/self/cgroup", V1_CGROUPS);
  put_cgroup("/sys/fs/cgroup/memory", "memory.oom_control", V1_CONTROL);
  CHECK_NUMBER(oom_kills_under(root, true), 5);
  clean();
  /* On the host. A v2 hierarchy without controllers is there as well. */
  put("/proc/self/cgroup", V1_CGROUPS);
  put("/sys/fs/cgroup/memory/cgroup.procs", "1000001\\n");
  put("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill 70\\n");
  put_cgroup("/sys/fs/cgroup/memory/docker/abc", "memory.oom_control",
             V1_CONTROL);
  put_cgroup("/sys/fs/cgroup/unified/docker/abc", "cpu.stat", "");
  CHECK_NUMBER(oom_kills_under(root, true), 5);
  clean();
  /* Before Linux 4.13 there was no count. */
  put("/proc/self/cgroup", V1_CGROUPS);
  put_cgroup("/sys/fs/cgroup/memory", "memory.oom_control",
             "oom_kill_disable 0\\nunder_oom 0\\n");
  CHECK_NUMBER(oom_kills_under(root, true), -1);
  clean();
}

/* A cgroup that does not list us is not ours: the namespace is newer than the
 * mount. v1 counts in the victim's own cgroup only, so another's says nothing
 * about us, and "not by the OOM killer" would be a lie. */
static void only_our_own_cgroup_is_believed(void) {
  put("/proc/self/cgroup", "4:memory:/\\n0::/\\n");
  put("/sys/fs/cgroup/memory/memory.oom_control", V1_CONTROL);
  put("/sys/fs/cgroup/memory/cgroup.procs", "1000001\\n");
  CHECK_NUMBER(oom_kills_under(root, true), -1);
  CHECK_NUMBER(oom_kills_under(root, false), 5);
  put("/sys/fs/cgroup/memory/cgroup.procs", "");
  CHECK_NUMBER(oom_kills_under(root, true), -1);
  clean();
}

static void what_cannot_be_read_is_unknown(void) {
  CHECK_NUMBER(oom_kills_under("/nonexistent", true), -1);
  CHECK_NUMBER(oom_kills_under(root, true), -1);
  put("/proc/self/cgroup", "");
  CHECK_NUMBER(oom_kills_under(root, true), -1);
  clean();
  put("/proc/self/cgroup", "0::/../..\\n");
  CHECK_NUMBER(oom_kills_under(root, true), -1);
  clean();
  put("/proc/self/cgroup", "0::/\\n");
  put_cgroup("/sys/fs/cgroup", "memory.events",
             "oom_kill 99999999999999999999\\n");
  CHECK_NUMBER(oom_kills_under(root, true), -1); /* more than there can be */
  clean();
  /* Longer than any buffer, before and instead of what is looked for. */
  run("mkdir -p proc/self && (head -c 5000 /dev/zero | tr '\\0' x; "
      "echo; echo 0::/) "
      ">proc/self/cgroup");
  put_cgroup("/sys/fs/cgroup", "memory.events", V2_EVENTS);
  CHECK_NUMBER(oom_kills_under(root, true), 3);
  /* Nor is the end of such a line one itself. */
  run("(head -c 4096 /dev/zero | tr '\\0' x; echo 4:memory:/y; echo 0::/) "
      ">proc/self/cgroup");
  CHECK_NUMBER(oom_kills_under(root, true), 3);
  run("(printf 0::/; head -c 5000 /dev/zero | tr '\\0' x; echo) "
      ">proc/self/cgroup");
  CHECK_NUMBER(oom_kills_under(root, true),
               3); /* by the folder that lists us */
  run("(printf 0::/; head -c 700 /dev/zero | tr '\\0' x; echo) "
      ">proc/self/cgroup");
  CHECK_NUMBER(oom_kills_under(root, true), 3);
  clean();
}

/* On the machine itself: whatever it has, reading it leaves nothing open. */
static void nothing_stays_open(void) {
  int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(before);
  long first = oom_kills();
  CHECK(oom_kills() >= first);
  CHECK(oom_struck(first) >= -1);
  CHECK_NUMBER(oom_struck(-1), -1);
  int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(after);
  CHECK_NUMBER(after, before);
}

static const char *death(int wstatus, long struck) {
  static char text[256];
  struct line line = LINE(text);
  explain_death(&line, "java", 7, wstatus, struck);
  return text;
}

static void deaths(void) {
  struct rlimit cpu;
  getrlimit(RLIMIT_CPU, &cpu);
  CHECK_STRING(death(SIGKILL, 1), "java (pid 7) was killed by SIGKILL: the "
                                  "kernel's OOM killer struck in this cgroup");
  CHECK_STRING(death(SIGKILL, -1), "java (pid 7) was killed by SIGKILL");
  CHECK_STRING(death(SIGSEGV | 0x80, 1),
               "java (pid 7) was killed by SIGSEGV (core dumped)");
  CHECK_STRING(death(SIGTERM, 0), "java (pid 7) was killed by SIGTERM");
  if (cpu.rlim_max == RLIM_INFINITY)
    CHECK_STRING(death(SIGKILL, 0),
                 "java (pid 7) was killed by SIGKILL; not by the OOM killer of "
                 "this cgroup: somebody sent it");
  cpu.rlim_cur = cpu.rlim_max = 86400;
  setrlimit(RLIMIT_CPU, &cpu);
  CHECK_STRING(death(SIGKILL, 0),
               "java (pid 7) was killed by SIGKILL; not by the OOM killer of "
               "this cgroup: somebody sent it, or 86400 s of CPU time were "
               "used up (RLIMIT_CPU)");
}

int main(void) {
  if (!mkdtemp(root)) {
    perror(root);
    return 1;
  }
  lines_of_cgroups();
  v2();
  v1();
  only_our_own_cgroup_is_believed();
  what_cannot_be_read_is_unknown();
  nothing_stays_open();
  deaths();
  run("rm -rf \"$PWD\"");
  return unit_result();
}
