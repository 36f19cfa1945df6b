/* Makes every fdatasync take SLOW_US microseconds longer, as a slower disk would:
 *   cc -O2 -shared -fPIC slow_sync.c -o slow_sync.so -ldl
 *   SLOW_US=400 LD_PRELOAD=$PWD/slow_sync.so target/release/deps/table-... DIR stores
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int fdatasync(int fd) {
    static int (*real)(int); static long us = -1;
    if (us < 0) { const char *t = getenv("SLOW_US"); us = t ? atol(t) : 0; real = dlsym(RTLD_NEXT, "fdatasync"); }
    int r = real(fd);
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&t, 0);
    return r;
}
