/**
 * The shadow of a folder: what its disk would hold if the power went now.
 *
 * A file's bytes come into the shadow when they are synced, a name when its directory is. Until then a write, a length, a new name
 * and a removed name do not exist for it. What is not told to it is not durable either, so that a call nobody hooked (a mapped
 * page, a file copied by the kernel) can make a false alarm and never hide a loss.
 *
 * On the disk: `tree/` is the folder after the cut; `objects/<inode>` is a file of the folder whose name may not be durable yet,
 * with the bytes that are. A name in `tree/` is a hard link to its object.
 *
 * All functions but `shadow_sync_begins` and `shadow_synced` are called after the call they tell of succeeded and before its caller
 * hears of it. A process that dies within one leaves a part of a write or of a directory's names: what a disk leaves of a
 * sync that nobody was told the end of.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** Held by whoever must not let another thread's call come between a look at a name and its change. Recursive. */
void shadow_lock(void);
void shadow_unlock(void);

/** `length` bytes were written at `offset`; -1 is where the descriptor stands now, less `length`. `synced`: by the call itself. */
void shadow_wrote(int descriptor, ssize_t length, off_t offset, bool synced);

/** The file has the length it has now, by a call that is no write. */
void shadow_resized(int descriptor);

/** The moment to hand to `shadow_synced`: what is told from now on is not covered by the sync that begins. */
uint64_t shadow_sync_begins(void);
/** A sync of a file or a directory succeeded. */
void shadow_synced(int descriptor, uint64_t began);

/** `path` (relative ones to the directory `at`) is a new name, of whatever it names now. */
void shadow_named(int at, const char *path);
/** `path` is no name any more. */
void shadow_unnamed(int at, const char *path);
