// Makes chosen calls on chosen files fail, in the process that loads it with LD_PRELOAD. The rules stand in a file that
// the test writes and this maps (FAIL_IO_RULES), so that a fault can come and go while the process runs. Any thread's
// calls count. See io-faults.ts for the other side of the layout.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RULES = 16, COUNT_ONLY = -1, SHORT_WRITE = -2, EVERY_TIME = -1 };

typedef struct {
  atomic_int active;
  int error; // an errno, COUNT_ONLY or SHORT_WRITE
  atomic_int skip; // so many calls pass first
  atomic_int times; // then so many fail
  atomic_int hits;
  char call[20];
  char suffix[88]; // how the path ends
} Rule;

static Rule *rules;

__attribute__((constructor)) static void load_rules(void) {
  const char *path = getenv("FAIL_IO_RULES");
  int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *map = mmap(NULL, RULES * sizeof(Rule), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) rules = map;
  syscall(SYS_close, fd);
}

static int ends_with(const char *text, const char *suffix) {
  size_t length = strlen(text), tail = strlen(suffix);
  return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

// Takes one off; 0 when nothing is left.
static int take(atomic_int *count) {
  int left = atomic_load(count);
  while (left > 0)
    if (atomic_compare_exchange_weak(count, &left, left - 1)) return 1;
  return 0;
}

// What the call is to fail with: an errno, SHORT_WRITE, or 0. `path` NULL: look the descriptor's up.
static int fault_of(const char *call, int fd, const char *path) {
  char link[32], target[1024];
  int fault = 0;
  for (int index = 0; rules != NULL && index < RULES; index++) {
    Rule *rule = &rules[index];
    if (!atomic_load(&rule->active) || strcmp(rule->call, call) != 0) continue;
    if (path == NULL) {
      snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
      ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
      if (length < 0) return 0;
      target[length] = 0;
      path = target;
    }
    if (!ends_with(path, rule->suffix) || take(&rule->skip)) continue;
    if (atomic_load(&rule->times) != EVERY_TIME && !take(&rule->times)) continue;
    atomic_fetch_add(&rule->hits, 1);
    if (fault == 0 && rule->error != COUNT_ONLY) fault = rule->error;
  }
  return fault;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (real == NULL) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define FAIL_IF_TOLD(call, fd, path) \
  do { \
    int fault = fault_of(call, fd, path); \
    if (fault > 0) { \
      errno = fault; \
      return -1; \
    } \
  } while (0)

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  FAIL_IF_TOLD("fdatasync", fd, NULL);
  return real(fd);
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  FAIL_IF_TOLD("fsync", fd, NULL);
  return real(fd);
}

int ftruncate64(int fd, off64_t length) {
  REAL(int, "ftruncate64", int, off64_t);
  FAIL_IF_TOLD("ftruncate", fd, NULL);
  return real(fd, length);
}

ssize_t pread64(int fd, void *buffer, size_t count, off64_t offset) {
  REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
  FAIL_IF_TOLD("pread", fd, NULL);
  return real(fd, buffer, count, offset);
}

ssize_t pwrite64(int fd, const void *buffer, size_t count, off64_t offset) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  int fault = fault_of("pwrite", fd, NULL);
  // One byte at least: a write of nothing is another fault.
  if (fault == SHORT_WRITE) return real(fd, buffer, (count + 1) / 2, offset);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  return real(fd, buffer, count, offset);
}

// A file system mounted read-only lets a file be opened for reading alone.
static int open_for(const char *path, int flags, mode_t mode) {
  if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT)) FAIL_IF_TOLD("open for writing", -1, path);
  FAIL_IF_TOLD("open", -1, path);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return open_for(path, flags, mode); \
  }

OPEN(open)
OPEN(open64)
