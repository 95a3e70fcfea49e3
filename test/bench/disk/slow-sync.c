/*
 * Makes a disk slow: every fsync and fdatasync of the process takes SLOW_SYNC_MS longer. With SLOW_SYNC_SERIAL=1 the syncs of
 * all threads wait for each other, as on a disk that cannot overlap them.
 *
 *   cc -shared -fPIC -O2 -o slow-sync.so slow-sync.c -ldl -lpthread
 *   SLOW_SYNC_MS=8 LD_PRELOAD=./slow-sync.so node server.js
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

static int sync_slowly(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  const char *ms = getenv("SLOW_SYNC_MS");
  long wanted = ms ? atol(ms) : 0;
  struct timespec left = {wanted / 1000, wanted % 1000 * 1000000};
  int is_serial = getenv("SLOW_SYNC_SERIAL") != NULL;
  if (is_serial) pthread_mutex_lock(&disk);
  while (nanosleep(&left, &left) != 0) {
  }
  int result = real(fd);
  if (is_serial) pthread_mutex_unlock(&disk);
  return result;
}

int fsync(int fd) { return sync_slowly("fsync", fd); }

int fdatasync(int fd) { return sync_slowly("fdatasync", fd); }
