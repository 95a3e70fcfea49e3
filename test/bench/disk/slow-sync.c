/*
 * Makes a disk slow: every fsync and fdatasync of the process takes SLOW_SYNC_MS longer.
 *
 *   cc -shared -fPIC -O2 -o slow-sync.so slow-sync.c -ldl
 *   SLOW_SYNC_MS=8 LD_PRELOAD=./slow-sync.so node server.js
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_a_while(void) {
  const char *ms = getenv("SLOW_SYNC_MS");
  long wanted = ms ? atol(ms) : 0;
  struct timespec left = {wanted / 1000, wanted % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_a_while();
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_a_while();
  return real(fd);
}
