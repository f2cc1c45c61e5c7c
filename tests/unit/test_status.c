/* The status page: what becomes of it as JSON, what a reader refuses, and that
 * a copy of it is of one moment. */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"
#include "status.h"
#include "status_reader.h"

static struct status example(void) {
  struct status page = {
      .magic = "foster-status",
      .layout = STATUS_LAYOUT,
      .pid = 1,
      .mode = MODE_PID1,
      .state = STATE_RUNNING,
      .entrypoint_pid = 7,
      .start_time = 1796044800 * SECOND + 7000000,
      .start_monotonic = 1000 * SECOND,
      .orphans_reaped = 5000,
      .left_behind = 2,
      .last_signal = 15,
      .last_sender_pid = 0,
      .last_sender_uid = UINT32_MAX,
      .version = "1.0.0",
      .command = "nginx",
  };
  page.signals_forwarded[1] = 1;
  page.signals_forwarded[15] = UINT64_MAX;
  page.signals_forwarded[64] = 3;
  return page;
}

static void is(const char *actual, const char *expected) {
  if (strcmp(actual, expected) == 0)
    return;
  fprintf(stderr, "is:        %s\nshould be: %s\n", actual, expected);
  assert(0);
}

static const char *json(const struct status *page, nanoseconds time,
                        const char *state) {
  static char text[STATUS_JSON_SIZE];
  struct line line = LINE(text);

  line.escape = LINE_JSON;
  status_json(&line, page, time, state);
  assert(!line.truncated);
  return text;
}

static void json_of_a_page(void) {
  struct status page = example();

  is(json(&page, 1012 * SECOND + 345999999, NULL),
     "\"version\":\"1.0.0\",\"pid\":1,\"mode\":\"pid1\","
     "\"state\":\"running\",\"entrypoint\":{\"pid\":7,"
     "\"start_time\":1796044800.007,\"command\":\"nginx\"},"
     "\"uptime_seconds\":12.345,\"orphans_reaped\":5000,\"left_behind\":2,"
     "\"signals_forwarded\":{\"SIGHUP\":1,\"SIGTERM\":18446744073709551615,"
     "\"SIGRTMAX\":3},\"last_signal\":{\"name\":\"SIGTERM\",\"sender_pid\":0,"
     "\"sender_uid\":4294967295}");
}

static void json_where_there_is_nothing(void) {
  struct status page = example();

  page.mode = MODE_PLAIN;
  page.state = STATE_PAUSED;
  page.entrypoint_pid = 0;
  page.last_signal = 0;
  memset(page.signals_forwarded, 0, sizeof page.signals_forwarded);
  /* The clock of another time namespace may be behind. */
  is(json(&page, 999 * SECOND, "ended"),
     "\"version\":\"1.0.0\",\"pid\":1,\"mode\":\"plain\",\"state\":\"ended\","
     "\"entrypoint\":null,\"uptime_seconds\":0.000,\"orphans_reaped\":5000,"
     "\"left_behind\":2,\"signals_forwarded\":{},\"last_signal\":null");
}

static void json_escapes_every_string(void) {
  struct status page = example();

  memcpy(page.version, "\"", 2);
  memcpy(page.command, "a\"\\\n\x1b\xff\xc3\xa4/", 10);
  assert(strstr(json(&page, 0, NULL), "\"version\":\"\\\"\""));
  assert(strstr(json(&page, 0, NULL),
                "\"command\":\"a\\\"\\\\\\u000a\\u001b\\u00ff\xc3\xa4/\""));
}

static void json_of_the_largest_page_fits(void) {
  struct status page = example();

  page.pid = page.entrypoint_pid = page.last_sender_pid = INT32_MIN;
  page.start_time = INT64_MAX;
  page.start_monotonic = 0;
  page.orphans_reaped = page.left_behind = UINT64_MAX;
  page.last_signal = 47;
  memset(page.signals_forwarded, 0xff, sizeof page.signals_forwarded);
  memset(page.version, 1, sizeof page.version - 1);
  memset(page.command, 1, sizeof page.command - 1);
  page.version[sizeof page.version - 1] = '\0';
  page.command[sizeof page.command - 1] = '\0';
  (void)json(&page, INT64_MAX, NULL);
}

static void seconds_are_rounded_down(void) {
  static const struct {
    nanoseconds time;
    const char *text;
  } cases[] = {
      {0, "0.000"},          {999999, "0.000"},
      {1000000, "0.001"},    {99999999, "0.099"},
      {SECOND - 1, "0.999"}, {SECOND, "1.000"},
      {-SECOND, "0.000"},    {INT64_MAX, "9223372036.854"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is(seconds(cases[i].time), cases[i].text);
}

static void a_hostile_page_is_refused(void) {
  struct status page = example();
  const struct status good = page;

  assert(status_valid(&page));
  assert(!status_foreign(&page));
#define REFUSED(change)                                                        \
  change;                                                                      \
  assert(!status_valid(&page));                                                \
  page = good

  REFUSED(page.magic[0] = 'F');
  REFUSED(page.magic[13] = 'x'); /* the zeros belong to it */
  REFUSED(page.magic[15] = 'x');
  REFUSED(page.layout = 0);
  REFUSED(page.layout = STATUS_LAYOUT + 1);
  REFUSED(page.pid = 0);
  REFUSED(page.pid = -1);
  REFUSED(page.mode = MODE_PID1 + 1);
  REFUSED(page.mode = UINT32_MAX);
  REFUSED(page.state = STATE_PAUSED + 1);
  REFUSED(page.entrypoint_pid = -1);
  REFUSED(page.start_time = -1);
  REFUSED(page.start_monotonic = INT64_MIN);
  REFUSED(page.last_signal = -1);
  REFUSED(page.last_signal = SIGNAL_MAX + 1);
  REFUSED(memset(page.version, 'v', sizeof page.version));
  REFUSED(memset(page.command, 'c', sizeof page.command));
  assert(status_valid(&page));

  page.layout = 2;
  assert(status_foreign(&page));
  page.magic[0] = 'F';
  assert(!status_foreign(&page));
}

static void a_new_page_is_complete(void) {
  static char longer[2 * STATUS_COMMAND_SIZE];
  struct status page;

  memset(&page, 0xff, sizeof page);
  memset(longer, 'x', sizeof longer - 1);
  status_start(&page, 12, MODE_SUBREAPER, longer);
  memcpy(page.magic, "foster-status", 14);
  assert(status_valid(&page));
  assert(page.pid == 12 && page.mode == MODE_SUBREAPER);
  assert(page.state == STATE_RUNNING && page.orphans_reaped == 0);
  assert(strlen(page.command) == sizeof page.command - 1);
  assert(page.version[0] != '\0');
  assert(page.start_monotonic > 0 && page.start_time > 1700000000 * SECOND);

  status_start(&page, 12, MODE_PLAIN, NULL);
  assert(page.state == STATE_PAUSED && page.command[0] == '\0');
}

/* The shared page of this process, as a file. */
static int find_shared(void) {
  for (int fd = 3; fd < 64; fd++) {
    char path[32], link[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, link, sizeof link - 1) > 0 &&
        strcmp(link, "/memfd:foster-status (deleted)") == 0)
      return fd;
  }
  return -1;
}

static void a_shared_page_is_sealed_and_live(void) {
  struct status before, copy;
  char byte = 'x';
  int zero = dup(0);

  status_start(&before, 1, MODE_PID1, "true");
  /* What is closed at the start must not become the page. */
  close(0);
  struct status *page = status_share(&before);
  assert(page != &before);
  assert(fcntl(0, F_GETFD) < 0);
  dup2(zero, 0);
  close(zero);

  int fd = find_shared();
  assert(fd >= 3);
  assert(fcntl(fd, F_GETFD) == FD_CLOEXEC);
  assert(ftruncate(fd, 0) < 0);
  assert(ftruncate(fd, STATUS_PAGE_SIZE + 1) < 0);
  assert(pwrite(fd, &byte, 1, 0) < 0);
  assert(pwrite(fd, &byte, 1, STATUS_PAGE_SIZE) < 0);
  assert(fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 4096));
  assert(mmap(NULL, STATUS_PAGE_SIZE, PROT_WRITE, MAP_SHARED, fd, 0) ==
         MAP_FAILED);
  assert(fcntl(fd, F_ADD_SEALS, 0) < 0);

  status_begin(page);
  page->orphans_reaped = 42;
  status_end(page);
  assert(status_copy(fd, &copy) && status_valid(&copy));
  assert(copy.orphans_reaped == 42 && before.orphans_reaped == 0);
  munmap(page, STATUS_PAGE_SIZE);
  close(fd);
  assert(find_shared() < 0);
}

/* A writer that changes several words at once for as long as it is read. */
static void a_copy_is_of_one_moment(void) {
  struct status start, copy;

  status_start(&start, 1, MODE_PID1, "true");
  struct status *page = status_share(&start);
  int fd = find_shared();
  pid_t writer = fork();
  assert(writer >= 0);
  if (writer == 0) {
    /* A failed assertion must not leave it behind. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint64_t i = 1;; i++) {
      status_begin(page);
      page->orphans_reaped = i;
      page->left_behind = i;
      for (int signal = 1; signal <= SIGNAL_MAX; signal++)
        page->signals_forwarded[signal] = i;
      page->last_sender_pid = (int32_t)(i & 0xffff);
      status_end(page);
      /* As init does: most of the time it waits. A copy is only of one moment
       * if it fits in between. */
      nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
  }
  uint64_t last = 0;
  int changes = 0;
  for (int i = 0; i < 5000 || changes < 3; i++) {
    assert(status_copy(fd, &copy));
    if (copy.sequence % 2 != 0)
      continue; /* the writer was not let run: it says so */
    assert(copy.left_behind == copy.orphans_reaped);
    assert(copy.last_sender_pid == (int32_t)(copy.orphans_reaped & 0xffff));
    for (int signal = 1; signal <= SIGNAL_MAX; signal++)
      assert(copy.signals_forwarded[signal] == copy.orphans_reaped);
    assert(copy.orphans_reaped >= last);
    changes += copy.orphans_reaped > last;
    last = copy.orphans_reaped;
  }
  kill(writer, SIGKILL);
  assert(waitpid(writer, NULL, 0) == writer);
  close(fd);
  munmap(page, STATUS_PAGE_SIZE);
}

/* Killed, or stopped, in the middle of a change. */
static void an_odd_sequence_does_not_hold_the_reader(void) {
  struct status page = example(), copy;
  int fd = memfd_create("page", 0);

  page.sequence = 7;
  assert(pwrite(fd, &page, sizeof page, 0) == sizeof page);
  nanoseconds start = now();
  assert(status_copy(fd, &copy));
  assert(now() - start >= SECOND / 20);
  assert(now() - start < 20 * SECOND);
  assert(copy.sequence == 7 && strcmp(copy.command, page.command) == 0);

  assert(ftruncate(fd, sizeof page - 1) == 0);
  assert(!status_copy(fd, &copy));
  assert(ftruncate(fd, offsetof(struct status, sequence)) == 0);
  assert(!status_copy(fd, &copy));
  assert(ftruncate(fd, 0) == 0);
  assert(!status_copy(fd, &copy));
  close(fd);
}

/* A line of /proc/PID/stat, and what is left of it if it is cut short. */
static void half_a_line_is_no_process(void) {
  static const char line[] = "12 (a) b) Z 34 5 6 7 8 9 10 11 12 13 14 15 16 17 "
                             "18 19 99 21 22\n";
  struct process process;
  char part[sizeof line];

  assert(process_parse(line, &process));
  assert(process.state == 'Z' && process.parent == 34 && process.threads == 99);
  for (size_t length = (size_t)(strstr(line, "99") - line);; length--) {
    /* Behind its end is what would be right. */
    memcpy(part, line, sizeof line);
    part[length] = '\0';
    assert(!process_parse(part, &process));
    if (length == 0)
      break;
  }
}

int main(void) {
  json_of_a_page();
  json_where_there_is_nothing();
  json_escapes_every_string();
  json_of_the_largest_page_fits();
  seconds_are_rounded_down();
  a_hostile_page_is_refused();
  a_new_page_is_complete();
  a_shared_page_is_sealed_and_live();
  a_copy_is_of_one_moment();
  an_odd_sequence_does_not_hold_the_reader();
  half_a_line_is_no_process();
  return 0;
}
