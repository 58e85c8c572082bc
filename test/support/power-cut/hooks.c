/**
 * Stands before libc's calls on files and tells the shadow of each that succeeded. Node and its SQLite make all their calls through
 * these symbols (seen with strace), libuv's io_uring excepted, which UV_USE_IO_URING=0 keeps off files. `sync_file_range` is no
 * sync, and `close` makes nothing durable.
 */
#define _GNU_SOURCE
#include "shadow-disk.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/** The next library's function of this name, as `real`. */
#define REAL(name) \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/** On 64-bit systems these are one function under two names. */
#define ALSO(other, name) extern __typeof__(name) other __attribute__((alias(#name)))

int openat(int at, const char *path, int flags, ...) {
  REAL(openat);
  va_list more;
  va_start(more, flags);
  mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if ((flags & (O_CREAT | O_TRUNC)) == 0) return real(at, path, flags, mode);
  struct stat status;
  shadow_lock();
  bool existed = fstatat(at, path, &status, 0) == 0;
  int descriptor = real(at, path, flags, mode);
  if (descriptor >= 0 && !existed) shadow_named(at, path);
  if (descriptor >= 0 && existed && (flags & O_TRUNC) != 0) shadow_resized(descriptor);
  shadow_unlock();
  return descriptor;
}
ALSO(openat64, openat);

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return openat(AT_FDCWD, path, flags, mode);
}
ALSO(open64, open);

int creat(const char *path, mode_t mode) { return openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
ALSO(creat64, creat);

ssize_t write(int descriptor, const void *bytes, size_t length) {
  REAL(write);
  ssize_t written = real(descriptor, bytes, length);
  shadow_wrote(descriptor, written, -1, false);
  return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(writev);
  ssize_t written = real(descriptor, parts, count);
  shadow_wrote(descriptor, written, -1, false);
  return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  REAL(pwrite);
  ssize_t written = real(descriptor, bytes, length, offset);
  shadow_wrote(descriptor, written, offset, false);
  return written;
}
ALSO(pwrite64, pwrite);

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  REAL(pwritev);
  ssize_t written = real(descriptor, parts, count, offset);
  shadow_wrote(descriptor, written, offset, false);
  return written;
}
ALSO(pwritev64, pwritev);

ssize_t pwritev2(int descriptor, const struct iovec *parts, int count, off_t offset, int flags) {
  REAL(pwritev2);
  ssize_t written = real(descriptor, parts, count, offset, flags);
  shadow_wrote(descriptor, written, offset, (flags & (RWF_DSYNC | RWF_SYNC)) != 0);
  return written;
}
ALSO(pwritev64v2, pwritev2);

int ftruncate(int descriptor, off_t length) {
  REAL(ftruncate);
  int result = real(descriptor, length);
  if (result == 0) shadow_resized(descriptor);
  return result;
}
ALSO(ftruncate64, ftruncate);

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  REAL(fallocate);
  int result = real(descriptor, mode, offset, length);
  if (result == 0 && (mode & FALLOC_FL_KEEP_SIZE) == 0) shadow_resized(descriptor);
  if (result == 0 && mode != 0 && mode != FALLOC_FL_KEEP_SIZE) shadow_wrote(descriptor, length, offset, false);
  return result;
}
ALSO(fallocate64, fallocate);

int posix_fallocate(int descriptor, off_t offset, off_t length) {
  REAL(posix_fallocate);
  int error = real(descriptor, offset, length);
  if (error == 0) shadow_resized(descriptor);
  return error;
}
ALSO(posix_fallocate64, posix_fallocate);

int fsync(int descriptor) {
  REAL(fsync);
  uint64_t began = shadow_sync_begins();
  int result = real(descriptor);
  if (result == 0) shadow_synced(descriptor, began);
  return result;
}

int fdatasync(int descriptor) {
  REAL(fdatasync);
  uint64_t began = shadow_sync_begins();
  int result = real(descriptor);
  if (result == 0) shadow_synced(descriptor, began);
  return result;
}

int mkdirat(int at, const char *path, mode_t mode) {
  REAL(mkdirat);
  shadow_lock();
  int result = real(at, path, mode);
  if (result == 0) shadow_named(at, path);
  shadow_unlock();
  return result;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int at, const char *path, int flags) {
  REAL(unlinkat);
  shadow_lock();
  int result = real(at, path, flags);
  // A removed directory stays in the shadow: its content may be there still.
  if (result == 0 && (flags & AT_REMOVEDIR) == 0) shadow_unnamed(at, path);
  shadow_unlock();
  return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
  REAL(linkat);
  shadow_lock();
  int result = real(from_at, from, to_at, to, flags);
  if (result == 0) shadow_named(to_at, to);
  shadow_unlock();
  return result;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  REAL(renameat2);
  shadow_lock();
  int result = real(from_at, from, to_at, to, flags);
  if (result == 0) {
    shadow_named(to_at, to);
    shadow_unnamed(from_at, from);
  }
  shadow_unlock();
  return result;
}

int renameat(int from_at, const char *from, int to_at, const char *to) { return renameat2(from_at, from, to_at, to, 0); }
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int remove(const char *path) {
  if (unlink(path) == 0) return 0;
  return errno == EISDIR ? rmdir(path) : -1;
}
