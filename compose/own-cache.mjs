/**
 * Code that lies in a cache on disk runs as whoever loads it, and a service writes its cache as its own user. Root takes it from root alone.
 * Written as JavaScript, since it runs before any .ts file can.
 */
import { lstatSync, readdirSync } from 'node:fs'

/** Whether code in these files and folders, which stand for all above them in the cache, may be run; what is not there may be made. */
export function mayRunFrom(paths, uid = process.getuid?.(), stat = lstatSync) {
  return uid !== 0 || paths.every((path) => isRoots(stat(path, { throwIfNoEntry: false })))
}

/** A folder and what is in it. */
export function withEntries(folder) {
  try {
    return [folder, ...readdirSync(folder).map((name) => `${folder}/${name}`)]
  } catch {
    // Not there yet, or not readable: then nothing of it is run.
    return [folder]
  }
}

/** Nobody else can change it. A link may be written by all, as the system tells. */
function isRoots(stats) {
  if (stats === undefined) return true
  const { uid, gid, mode } = stats
  return uid === 0 && (mode & 0o002) === 0 && ((mode & 0o020) === 0 || gid === 0)
}
