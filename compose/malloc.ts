/**
 * How glibc keeps memory. It gives threads arenas of their own, and each keeps what was freed in it: some 35 MiB of an idle engine, mostly of
 * modules that were compiled. And once it has freed a block of many MiB, it takes the next ones from the heap, which can only shrink at its
 * end: the 16 MiB that hashing a password takes then stay. It reads its settings when the process begins, so the process begins a second time.
 */
export const MALLOC_SETTINGS = {
  MALLOC_ARENA_MAX: '1',
  // Bytes. A block of this size is mapped by itself, and given back when it is freed.
  MALLOC_MMAP_THRESHOLD_: String(8 << 20),
  // Bytes. What may stay free at the end of the heap, so that buffers that come and go do not ask the system each time.
  MALLOC_TRIM_THRESHOLD_: String(4 << 20),
} as const

/** Replaces this process by itself with these settings: the same process id, arguments and open files. Returns where that is not needed. */
export function restartWithLeanMalloc(environment: NodeJS.ProcessEnv): void {
  if (process.platform !== 'linux' || Object.keys(MALLOC_SETTINGS).every((name) => environment[name] !== undefined))
    return
  // Older Nodes have no such call; they run with the memory that they take.
  if (typeof process.execve !== 'function') return
  const argv = [process.argv0, ...process.execArgv, ...process.argv.slice(1)]
  process.execve(process.execPath, argv, { ...MALLOC_SETTINGS, ...environment })
}
