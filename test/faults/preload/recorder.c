/*
 * Preloaded into a process, it records in one order what the process does to the files of a folder, and can kill the
 * process with SIGKILL right before, halfway through or right after a certain call.
 *
 *   RECORDER_FOLDER   the folder, with its subfolders; absolute, without links
 *   RECORDER_LOG      where the record goes, outside of that folder; appended to. Read by read-recording.ts.
 *   RECORDER_SYNC_US  how long each sync takes, in microseconds: while it runs, other threads go on writing
 *   RECORDER_REVERSE  set: our own sync of the WAL takes three times as long when it starts while none runs, so that those
 *                     that start beside it end first
 *   RECORDER_FAIL     n: the nth of our own syncs of the WAL fails with EIO, and no other does
 *   RECORDER_FAIL_BESIDE  n: the first of our own syncs of the WAL, from the nth on, that ends while another of them runs
 *                     fails with EIO, and no other does
 *   RECORDER_KILL     "<kind> <end of the file's name> <n> <before|halfway|after>", a kind being a letter of KIND
 *
 * The order: a call that changes a file or a name, and its line in the record, are one under a mutex. A sync is two lines,
 * before it starts and after it ended, and runs outside of the mutex. So what stands before the start was written
 * before the start, and what stands after the end happened after the end; between them anything may happen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum KIND { CREATE = 'c', MAKE_FOLDER = 'm', UNLINK = 'u', RENAME = 'r', WRITE = 'w', TRUNCATE = 't', SYNC = 's', SYNCED = 'e', SYNC_FAILED = 'f' };
enum SIDE { BEFORE, HALFWAY, AFTER };

/* Little-endian, as every machine is on which the tests run. The name and the data follow. */
struct line {
  uint8_t kind;
  uint8_t by_sqlite;
  uint16_t name_length;
  uint32_t data_length;
  uint64_t number; /* offset of a write, size of a truncation, number of a sync */
};

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static dev_t device;
static int record_fd = -1;
static useconds_t sync_us;
static uint64_t syncs;
static long syncs_to_failure;
static int reverses;
static long fails_beside_from, own_syncs, own_running;

static struct {
  char kind;
  char suffix[64];
  long left;
  enum SIDE side;
} fatal;

#define REAL(name) static __typeof__(&name) real_##name
REAL(open64);
REAL(write);
REAL(pwrite64);
REAL(writev);
REAL(pwritev64);
REAL(ftruncate64);
REAL(fsync);
REAL(fdatasync);
REAL(unlink);
REAL(rename);
REAL(mkdir);

#define FIND(name) real_##name = (__typeof__(real_##name))dlsym(RTLD_NEXT, #name)

static void die(const char *why) {
  dprintf(2, "recorder: %s: %s\n", why, strerror(errno));
  abort();
}

__attribute__((constructor)) static void start(void) {
  FIND(open64);
  FIND(write);
  FIND(pwrite64);
  FIND(writev);
  FIND(pwritev64);
  FIND(ftruncate64);
  FIND(fsync);
  FIND(fdatasync);
  FIND(unlink);
  FIND(rename);
  FIND(mkdir);
  const char *where = getenv("RECORDER_FOLDER"), *log = getenv("RECORDER_LOG");
  const char *delay = getenv("RECORDER_SYNC_US"), *kill_at = getenv("RECORDER_KILL");
  if (!where || !log) return;
  struct stat status;
  if (stat(where, &status) != 0) die(where);
  device = status.st_dev;
  folder_length = (size_t)snprintf(folder, sizeof folder, "%s", where);
  if (delay) sync_us = (useconds_t)atoi(delay);
  const char *fail = getenv("RECORDER_FAIL");
  if (fail) syncs_to_failure = atol(fail);
  const char *beside = getenv("RECORDER_FAIL_BESIDE");
  if (beside) fails_beside_from = atol(beside);
  reverses = getenv("RECORDER_REVERSE") != NULL;
  char side[8] = "";
  if (kill_at) {
    if (sscanf(kill_at, "%c %63s %ld %7s", &fatal.kind, fatal.suffix, &fatal.left, side) != 4) die(kill_at);
    fatal.side = strcmp(side, "before") == 0 ? BEFORE : strcmp(side, "halfway") == 0 ? HALFWAY : AFTER;
  }
  record_fd = real_open64(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (record_fd < 0) die(log);
}

/* The name below the folder, "" for the folder itself, NULL for what is elsewhere. */
static const char *name_of(const char *path) {
  if (record_fd < 0 || strncmp(path, folder, folder_length) != 0) return NULL;
  if (path[folder_length] == '\0') return path + folder_length;
  return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

/* By the descriptor itself, so that no close or dup has to be followed. What was unlinked has no name any more. */
static const char *name_of_fd(int fd, char *path) {
  struct stat status;
  int saved = errno;
  const char *name = NULL;
  if (record_fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == device &&
      (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) && status.st_nlink > 0) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length > 0) {
      path[length] = '\0';
      name = name_of(path);
    }
  }
  errno = saved;
  return name;
}

static void record(enum KIND kind, int by_sqlite, const char *name, uint64_t number, const void *data, size_t length) {
  int saved = errno;
  struct line line = {(uint8_t)kind, (uint8_t)by_sqlite, (uint16_t)strlen(name), (uint32_t)length, number};
  struct iovec parts[] = {{&line, sizeof line}, {(void *)name, line.name_length}, {(void *)data, length}};
  if (real_writev(record_fd, parts, 3) != (ssize_t)(sizeof line + line.name_length + length)) die("the record");
  errno = saved;
}

static void end_here(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int ends_with(const char *name, const char *suffix) {
  size_t length = strlen(name), wanted = strlen(suffix);
  return length >= wanted && strcmp(name + length - wanted, suffix) == 0;
}

/* Under the mutex, once before each call. Whether this is the one that kills. */
static int is_fatal(enum KIND kind, const char *name) {
  if (fatal.left <= 0 || fatal.kind != (char)kind || !ends_with(name, fatal.suffix) || --fatal.left > 0) return 0;
  if (fatal.side == BEFORE) end_here();
  return 1;
}

/* A call that changes a name. `data` is the second name of a rename. */
static int change_name(enum KIND kind, const char *name, const char *second, int (*call)(const void *), const void *of) {
  if (!name) return call(of);
  pthread_mutex_lock(&order);
  int is_last = is_fatal(kind, name);
  int result = call(of);
  if (result == 0) record(kind, 0, name, 0, second, second ? strlen(second) : 0);
  if (is_last) end_here();
  pthread_mutex_unlock(&order);
  return result;
}

static int call_unlink(const void *of) { return real_unlink(of); }
int unlink(const char *path) { return change_name(UNLINK, name_of(path), NULL, call_unlink, path); }

struct two_paths {
  const char *from, *to;
};
static int call_rename(const void *of) {
  const struct two_paths *paths = of;
  return real_rename(paths->from, paths->to);
}
int rename(const char *from, const char *to) {
  struct two_paths paths = {from, to};
  return change_name(RENAME, name_of(from), name_of(to), call_rename, &paths);
}

struct new_folder {
  const char *path;
  mode_t mode;
};
static int call_mkdir(const void *of) {
  const struct new_folder *made = of;
  return real_mkdir(made->path, made->mode);
}
int mkdir(const char *path, mode_t mode) {
  struct new_folder made = {path, mode};
  return change_name(MAKE_FOLDER, name_of(path), NULL, call_mkdir, &made);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const char *name = name_of(path);
  if (!name || !(flags & (O_CREAT | O_TRUNC))) return real_open64(path, flags, mode);
  pthread_mutex_lock(&order);
  int was_there = access(path, F_OK) == 0;
  enum KIND kind = was_there ? TRUNCATE : CREATE;
  int counts = !was_there || (flags & O_TRUNC);
  int is_last = counts && is_fatal(kind, name);
  int fd = real_open64(path, flags, mode);
  if (fd >= 0 && counts) record(kind, 0, name, 0, NULL, 0);
  if (is_last) end_here();
  pthread_mutex_unlock(&order);
  return fd;
}
int open(const char *path, int flags, ...) __attribute__((alias("open64")));

#define AT_POSITION ((off64_t)-1)

static ssize_t call_write(int fd, const void *data, size_t length, off64_t offset) {
  return offset == AT_POSITION ? real_write(fd, data, length) : real_pwrite64(fd, data, length, offset);
}

static ssize_t write_recorded(const char *name, int fd, const void *data, size_t length, off64_t offset) {
  pthread_mutex_lock(&order);
  int is_last = is_fatal(WRITE, name);
  if (is_last && fatal.side == HALFWAY) length /= 2;
  ssize_t written = call_write(fd, data, length, offset);
  if (written > 0) {
    /* Afterwards, since only then O_APPEND has chosen where. */
    off64_t from = offset == AT_POSITION ? lseek64(fd, 0, SEEK_CUR) - written : offset;
    record(WRITE, 0, name, (uint64_t)from, data, (size_t)written);
  }
  if (is_last) end_here();
  pthread_mutex_unlock(&order);
  return written;
}

ssize_t write(int fd, const void *data, size_t length) {
  char path[PATH_MAX];
  const char *name = name_of_fd(fd, path);
  return name ? write_recorded(name, fd, data, length, AT_POSITION) : real_write(fd, data, length);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  char path[PATH_MAX];
  const char *name = name_of_fd(fd, path);
  return name ? write_recorded(name, fd, data, length, offset) : real_pwrite64(fd, data, length, offset);
}
ssize_t pwrite(int fd, const void *data, size_t length, off64_t offset) __attribute__((alias("pwrite64")));

/* Of several parts only the first is written: a short write, which every caller goes on from. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  const char *name = name_of_fd(fd, path);
  if (!name || count == 0) return real_writev(fd, parts, count);
  return write_recorded(name, fd, parts->iov_base, parts->iov_len, AT_POSITION);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  char path[PATH_MAX];
  const char *name = name_of_fd(fd, path);
  if (!name || count == 0) return real_pwritev64(fd, parts, count, offset);
  return write_recorded(name, fd, parts->iov_base, parts->iov_len, offset);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off64_t offset) __attribute__((alias("pwritev64")));

int ftruncate64(int fd, off64_t size) {
  char path[PATH_MAX];
  const char *name = name_of_fd(fd, path);
  if (!name) return real_ftruncate64(fd, size);
  pthread_mutex_lock(&order);
  int is_last = is_fatal(TRUNCATE, name);
  int result = real_ftruncate64(fd, size);
  if (result == 0) record(TRUNCATE, 0, name, (uint64_t)size, NULL, 0);
  if (is_last) end_here();
  pthread_mutex_unlock(&order);
  return result;
}
int ftruncate(int fd, off64_t size) __attribute__((alias("ftruncate64")));

/* Our own syncs are made by libuv, by functions beside this one; every other is SQLite's, wherever its code is. */
static int is_sqlite(void *caller) {
  char *near = dlsym(RTLD_DEFAULT, "uv_fs_fdatasync");
  return labs((char *)caller - near) > 65536;
}

static int sync_recorded(const char *name, int (*call)(int), int fd, void *caller) {
  int by_sqlite = is_sqlite(caller);
  pthread_mutex_lock(&order);
  int is_last = is_fatal(SYNC, name);
  int is_own = !by_sqlite && ends_with(name, "-wal");
  int fails = syncs_to_failure > 0 && is_own && --syncs_to_failure == 0;
  int is_slow = reverses && is_own && own_running == 0;
  own_running += is_own;
  long nth = own_syncs += is_own;
  uint64_t number = syncs++;
  record(SYNC, by_sqlite, name, number, NULL, 0);
  pthread_mutex_unlock(&order);
  int result = fails ? -1 : call(fd);
  if (sync_us > 0) usleep(is_slow ? 3 * sync_us : sync_us);
  pthread_mutex_lock(&order);
  if (is_own && fails_beside_from > 0 && nth >= fails_beside_from && own_running > 1) {
    fails_beside_from = 0;
    fails = 1;
    result = -1;
  }
  own_running -= is_own;
  if (fails) errno = EIO;
  record(result == 0 ? SYNCED : SYNC_FAILED, by_sqlite, name, number, NULL, 0);
  if (is_last) end_here();
  pthread_mutex_unlock(&order);
  return result;
}

int fsync(int fd) {
  char path[PATH_MAX];
  const char *name = name_of_fd(fd, path);
  return name ? sync_recorded(name, real_fsync, fd, __builtin_return_address(0)) : real_fsync(fd);
}

int fdatasync(int fd) {
  char path[PATH_MAX];
  const char *name = name_of_fd(fd, path);
  return name ? sync_recorded(name, real_fdatasync, fd, __builtin_return_address(0)) : real_fdatasync(fd);
}
