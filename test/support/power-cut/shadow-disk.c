#define _GNU_SOURCE
#include "shadow-disk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct node;

/** Something that is not durable yet, in the order it was done. */
struct change {
  enum { WRITTEN, RESIZED, NAMED, UNNAMED } kind;
  /** The count of syncs that had begun. */
  uint64_t at;
  /** WRITTEN: the range. RESIZED: `end` is the length. */
  off_t start, end;
  /** NAMED, UNNAMED. */
  char name[NAME_MAX + 1];
  struct node *target;
};

/** A file or directory below the folder. Never forgotten. */
struct node {
  struct node *next;
  dev_t device;
  ino_t inode;
  bool is_directory;
  /** Open for good: no other file gets the inode's number, and closing it would drop the locks SQLite has on the file. */
  int real;
  int shadow;
  struct change *changes;
  size_t count, capacity;
};

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct node *nodes;
static int objects = -1;
static uint64_t syncs;
/** The power goes within this one of the syncs that come to their end; 0: within none. */
static long cut_at;

void shadow_lock(void) { pthread_mutex_lock(&mutex); }
void shadow_unlock(void) { pthread_mutex_unlock(&mutex); }

static void fail(const char *what) {
  fprintf(stderr, "power-cut shadow: %s: %s\n", what, strerror(errno));
  abort();
}

static int checked(int result, const char *what) {
  if (result < 0) fail(what);
  return result;
}

static struct node *find(const struct stat *status) {
  for (struct node *node = nodes; node != NULL; node = node->next)
    if (node->inode == status->st_ino && node->device == status->st_dev) return node;
  return NULL;
}

/** NULL for a descriptor of something else than a file or directory below the folder. */
static struct node *node_of(int descriptor) {
  struct stat status;
  if (nodes == NULL || fstat(descriptor, &status) != 0) return NULL;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return NULL;
  shadow_lock();
  struct node *node = find(&status);
  shadow_unlock();
  return node;
}

static void object_name(ino_t inode, char name[32]) {
  snprintf(name, 32, "%llu", (unsigned long long)inode);
}

/** The empty object of a new file or directory; returns its descriptor. */
static int new_object(const struct stat *status) {
  char name[32];
  object_name(status->st_ino, name);
  if (!S_ISDIR(status->st_mode)) {
    unlinkat(objects, name, 0); // Of a file that is gone, whose number is used again after a start.
    return checked(openat(objects, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "open of an object");
  }
  checked(mkdirat(objects, name, 0700), "mkdir of an object");
  return checked(openat(objects, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open of an object");
}

static struct node *add_node(int at, const char *path, const struct stat *status, int shadow) {
  struct node *node = calloc(1, sizeof *node);
  if (node == NULL) fail("calloc");
  node->device = status->st_dev;
  node->inode = status->st_ino;
  node->is_directory = S_ISDIR(status->st_mode);
  node->real = checked(openat(at, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), path);
  node->shadow = shadow;
  node->next = nodes;
  return nodes = node;
}

static struct change *add_change(struct node *node) {
  if (node->count == node->capacity) {
    node->capacity = node->capacity * 2 + 8;
    node->changes = realloc(node->changes, node->capacity * sizeof *node->changes);
    if (node->changes == NULL) fail("realloc");
  }
  struct change *change = &node->changes[node->count++];
  change->at = syncs;
  return change;
}

static void add_written(struct node *node, off_t start, off_t end) {
  struct change *change = add_change(node);
  change->kind = WRITTEN;
  change->start = start;
  change->end = end;
}

static void add_resized(struct node *node, off_t length) {
  struct change *change = add_change(node);
  change->kind = RESIZED;
  change->end = length;
}

static void add_named(struct node *directory, const char *name, struct node *target) {
  struct change *change = add_change(directory);
  change->kind = NAMED;
  change->target = target;
  strcpy(change->name, name);
}

static void add_unnamed(struct node *directory, const char *name) {
  struct change *change = add_change(directory);
  change->kind = UNNAMED;
  strcpy(change->name, name);
}

static void copy_range(struct node *node, off_t start, off_t end) {
  static char buffer[1 << 20];
  while (start < end) {
    size_t wanted = end - start < (off_t)sizeof buffer ? (size_t)(end - start) : sizeof buffer;
    ssize_t got = pread(node->real, buffer, wanted, start);
    if (got < 0) fail("read of a file");
    if (got == 0) return;
    for (ssize_t put = 0; put < got;) {
      ssize_t written = pwrite(node->shadow, buffer + put, got - put, start + put);
      if (written < 0) fail("write of an object");
      put += written;
    }
    start += got;
  }
}

/** The name is there for the object before or after, and never for nothing: by a rename. */
static void put_name(struct node *directory, const char *name, struct node *target) {
  char object[32];
  object_name(target->inode, object);
  if (target->is_directory) {
    // A directory moves with all that is durable in it.
    if (renameat(objects, object, directory->shadow, name) != 0 && errno != ENOENT) fail("rename of a directory");
    return;
  }
  checked(linkat(objects, object, objects, "linking", 0), "link of an object");
  checked(renameat(objects, "linking", directory->shadow, name), "rename of a link");
  unlinkat(objects, "linking", 0); // A rename onto a link of the same file leaves both.
}

static void make_durable(struct node *node, const struct change *change) {
  switch (change->kind) {
    case WRITTEN:
      copy_range(node, change->start, change->end);
      return;
    case RESIZED:
      checked(ftruncate(node->shadow, change->end), "resize of an object");
      return;
    case NAMED:
      put_name(node, change->name, change->target);
      return;
    case UNNAMED:
      if (unlinkat(node->shadow, change->name, 0) != 0 && errno != ENOENT) fail("removal of a name");
  }
}

/** Makes the changes up to the sync `until` durable and forgets them. */
static void apply(struct node *node, uint64_t until, bool lengths_only) {
  size_t kept = 0;
  for (size_t index = 0; index < node->count; index++) {
    struct change *change = &node->changes[index];
    bool wanted = change->at <= until && (!lengths_only || change->kind == RESIZED);
    if (wanted) make_durable(node, change);
    else node->changes[kept++] = *change;
  }
  node->count = kept;
}

/** Before a sync's changes are durable: those of the one before are, and its caller may have told of them. */
static void cut_here(void) {
  if (cut_at > 0 && --cut_at == 0) kill(getpid(), SIGKILL);
}

void shadow_wrote(int descriptor, ssize_t length, off_t offset, bool synced) {
  struct node *node = length > 0 ? node_of(descriptor) : NULL;
  if (node == NULL) return;
  off_t start = offset >= 0 ? offset : lseek(descriptor, 0, SEEK_CUR) - length;
  off_t end = start + length;
  shadow_lock();
  if (synced || (fcntl(descriptor, F_GETFL) & O_DSYNC) != 0) {
    cut_here();
    // The length goes with it, and no other range.
    apply(node, syncs, true);
    copy_range(node, start, end);
  } else {
    struct change *last = node->count > 0 ? &node->changes[node->count - 1] : NULL;
    if (last != NULL && last->kind == WRITTEN && last->end == start && last->at == syncs) last->end = end;
    else add_written(node, start, end);
  }
  shadow_unlock();
}

void shadow_resized(int descriptor) {
  struct node *node = node_of(descriptor);
  if (node == NULL) return;
  struct stat status;
  shadow_lock();
  checked(fstat(node->real, &status), "stat of a file");
  add_resized(node, status.st_size);
  shadow_unlock();
}

uint64_t shadow_sync_begins(void) {
  shadow_lock();
  uint64_t began = syncs++;
  shadow_unlock();
  return began;
}

void shadow_synced(int descriptor, uint64_t began) {
  struct node *node = node_of(descriptor);
  if (node == NULL) return;
  shadow_lock();
  cut_here();
  apply(node, began, false);
  shadow_unlock();
}

/** The node of the directory that `path` is a name in, NULL outside of the folder; `name` becomes the last part of the path. */
static struct node *directory_of(int at, const char *path, char name[NAME_MAX + 1]) {
  char parent[PATH_MAX];
  size_t length = strnlen(path, sizeof parent - 1);
  memcpy(parent, path, length);
  while (length > 1 && parent[length - 1] == '/') length--;
  parent[length] = '\0';
  char *slash = strrchr(parent, '/');
  const char *last = slash == NULL ? parent : slash + 1;
  size_t bytes = strnlen(last, NAME_MAX);
  memcpy(name, last, bytes);
  name[bytes] = '\0';
  if (slash == NULL) strcpy(parent, ".");
  else slash[slash == parent ? 1 : 0] = '\0';
  struct stat status;
  return fstatat(at, parent, &status, 0) == 0 ? find(&status) : NULL;
}

void shadow_named(int at, const char *path) {
  char name[NAME_MAX + 1];
  struct stat status;
  shadow_lock();
  struct node *directory = directory_of(at, path, name);
  if (directory != NULL && fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    struct node *target = find(&status);
    if (target == NULL) target = add_node(at, path, &status, new_object(&status));
    add_named(directory, name, target);
  }
  shadow_unlock();
}

void shadow_unnamed(int at, const char *path) {
  char name[NAME_MAX + 1];
  shadow_lock();
  struct node *directory = directory_of(at, path, name);
  if (directory != NULL) add_unnamed(directory, name);
  shadow_unlock();
}

static DIR *open_entries(int directory) {
  DIR *entries = fdopendir(checked(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open of a directory"));
  if (entries == NULL) fail("read of a directory");
  return entries;
}

/** NULL after the last one. */
static const char *next_entry(DIR *entries) {
  struct dirent *entry;
  do entry = readdir(entries);
  while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
  return entry == NULL ? NULL : entry->d_name;
}

/** All that is in the directory is durable. */
static void take_over(struct node *directory) {
  DIR *entries = open_entries(directory->real);
  for (const char *name; (name = next_entry(entries)) != NULL;) {
    struct stat status;
    checked(fstatat(directory->real, name, &status, AT_SYMLINK_NOFOLLOW), name);
    struct node *node = add_node(directory->real, name, &status, new_object(&status));
    put_name(directory, name, node);
    if (node->is_directory) take_over(node);
    else copy_range(node, 0, status.st_size);
  }
  closedir(entries);
}

/** What another process left in the directory is durable as far as its shadow has it. */
static void resume(struct node *directory) {
  DIR *entries = open_entries(directory->real);
  for (const char *name; (name = next_entry(entries)) != NULL;) {
    struct stat status, durable, object;
    checked(fstatat(directory->real, name, &status, AT_SYMLINK_NOFOLLOW), name);
    bool is_named = fstatat(directory->shadow, name, &durable, AT_SYMLINK_NOFOLLOW) == 0;
    char object_path[32];
    object_name(status.st_ino, object_path);
    int shadow = S_ISDIR(status.st_mode) && is_named
                   ? openat(directory->shadow, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                   : openat(objects, object_path, (S_ISDIR(status.st_mode) ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    if (shadow < 0) shadow = new_object(&status);
    checked(fstat(shadow, &object), "stat of an object");
    struct node *node = add_node(directory->real, name, &status, shadow);
    if (!is_named || object.st_ino != durable.st_ino) add_named(directory, name, node);
    if (node->is_directory) resume(node);
    else {
      add_resized(node, status.st_size);
      add_written(node, 0, status.st_size);
    }
  }
  closedir(entries);
  entries = open_entries(directory->shadow);
  for (const char *name; (name = next_entry(entries)) != NULL;)
    if (faccessat(directory->real, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) add_unnamed(directory, name);
  closedir(entries);
}

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("POWER_CUT_FOLDER");
  const char *shadow = getenv("POWER_CUT_SHADOW");
  if (folder == NULL || shadow == NULL) return;
  const char *at_sync = getenv("POWER_CUT_AT_SYNC");
  if (at_sync != NULL) cut_at = atol(at_sync);
  unsetenv("LD_PRELOAD"); // A process started by this one has no share in the shadow.
  struct stat status;
  checked(stat(folder, &status), folder);
  char objects_path[PATH_MAX], tree_path[PATH_MAX];
  snprintf(objects_path, sizeof objects_path, "%s/objects", shadow);
  snprintf(tree_path, sizeof tree_path, "%s/tree", shadow);
  bool is_new = mkdir(shadow, 0700) == 0;
  if (is_new) {
    checked(mkdir(objects_path, 0700), objects_path);
    checked(mkdir(tree_path, 0700), tree_path);
  }
  objects = checked(open(objects_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), objects_path);
  int tree = checked(open(tree_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), tree_path);
  unlinkat(objects, "linking", 0); // Of a process that died amid a sync.
  struct node *root = add_node(AT_FDCWD, folder, &status, tree);
  if (is_new) take_over(root);
  else resume(root);
}
