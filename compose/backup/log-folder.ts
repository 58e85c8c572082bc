/**
 * Copies a folder of append-only logs that are being written. The copy is what a process killed at one instant would have left: most of it is
 * copied beside the writers, and what changed meanwhile in one turn of the event loop, in which no writer goes on.
 */
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { mkdir, open, readdir, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isZeros } from '../../disk/zeros.ts'

const WINDOW = 256 << 10
/** Space ahead of a writer is filled with zeros. A message may hold zeros too: but none as many. */
const END_OF_LOG_BYTES = 17 << 20
/** What changed since the last pass is copied in one turn once it is less than this. */
const ONE_TURN_BYTES = 1 << 20
const MAX_PASSES = 8
/** A file that was written to within this time of its last change may have been written to again in the same tick of its clock. */
const CLOCK_MS = 1_000

interface Copied {
  /** Where the next pass goes on: all before it is copied, and does not change. */
  from: number
  /** When the file was changed last, as of the last pass. */
  changedAt: number
  /** Which file it was: another one may have got its name. */
  inode: number
}

/** `target` must not be there. Throws what the disk throws. */
export async function copyLogFolder(source: string, target: string, now: () => number): Promise<void> {
  const copied = new Map<string, Copied>()
  await mkdir(target, { recursive: true, mode: 0o700 })
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    if ((await copyAhead(source, target, copied, now)) < ONE_TURN_BYTES) break
  }
  copyTheRest(source, target, copied, now)
}

/** Returns how many bytes were new. */
async function copyAhead(
  source: string,
  target: string,
  copied: Map<string, Copied>,
  now: () => number,
): Promise<number> {
  let bytes = 0
  const startedAt = now()
  for (const path of await filesBelow(source)) {
    const state = stateOf(copied, path)
    const file = await open(join(source, path), 'r').catch(orGone)
    if (file === undefined) continue
    try {
      const { mtimeMs, ino } = await file.stat()
      beginAnew(state, ino)
      if (isUnchanged(state, mtimeMs, startedAt)) continue
      state.changedAt = mtimeMs
      await mkdir(dirname(join(target, path)), { recursive: true, mode: 0o700 })
      const end = await endOfData(file, state.from)
      const copy = await open(join(target, path), state.from === 0 ? 'w' : 'r+', 0o600)
      try {
        bytes += await copyRange(file, copy, state.from, end)
      } finally {
        await copy.close()
      }
      state.from = Math.max(0, end - WINDOW)
    } finally {
      await file.close()
    }
  }
  return bytes
}

/** Where the last window with data ends. Logs are written front to back: what lies before that window is all there. */
async function endOfData(file: FileHandle, from: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(WINDOW)
  let end = from
  for (let position = from; ; position += WINDOW) {
    const { bytesRead } = await file.read(buffer, 0, WINDOW, position)
    if (bytesRead === 0) return end
    if (!isZeros(buffer.subarray(0, bytesRead))) end = position + WINDOW
  }
}

async function copyRange(file: FileHandle, copy: FileHandle, from: number, end: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(WINDOW)
  let position = from
  while (position < end) {
    const { bytesRead } = await file.read(buffer, 0, WINDOW, position)
    if (bytesRead === 0) break
    await copy.write(buffer, 0, bytesRead, position)
    position += bytesRead
  }
  return position - from
}

/** In one turn: the writers' continuations run before it or after it. */
function copyTheRest(source: string, target: string, copied: Map<string, Copied>, now: () => number): void {
  const present = new Set(filesBelowNow(source))
  for (const path of copied.keys()) if (!present.has(path)) rmSync(join(target, path), { force: true })
  const buffer = Buffer.allocUnsafe(WINDOW)
  for (const path of present) {
    try {
      copyRestOf(join(source, path), join(target, path), stateOf(copied, path), buffer, now())
    } catch (error) {
      // Its removal was under way.
      orGone(error)
      rmSync(join(target, path), { force: true })
    }
  }
}

function copyRestOf(source: string, target: string, state: Copied, buffer: Buffer, now: number): void {
  const { mtimeMs, ino } = statSync(source)
  beginAnew(state, ino)
  if (isUnchanged(state, mtimeMs, now)) return
  const file = openSync(source, 'r')
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const copy = openSync(target, state.from === 0 ? 'w' : 'r+', 0o600)
  try {
    let end = state.from
    for (let position = state.from; position - end < END_OF_LOG_BYTES;) {
      const bytesRead = readSync(file, buffer, 0, WINDOW, position)
      if (bytesRead === 0) break
      const window = buffer.subarray(0, bytesRead)
      if (!isZeros(window)) {
        writeSync(copy, window, 0, bytesRead, position)
        end = position + bytesRead
      }
      position += bytesRead
    }
    ftruncateSync(copy, end)
  } finally {
    closeSync(file)
    closeSync(copy)
  }
}

function beginAnew(state: Copied, inode: number): void {
  if (state.inode !== inode) Object.assign(state, { from: 0, changedAt: -1, inode })
}

function isUnchanged(state: Copied, changedAt: number, now: number): boolean {
  return state.changedAt === changedAt && changedAt < now - CLOCK_MS
}

function stateOf(copied: Map<string, Copied>, path: string): Copied {
  let state = copied.get(path)
  if (state === undefined) copied.set(path, (state = { from: 0, changedAt: -1, inode: 0 }))
  return state
}

/** Its log was done with, and it was removed. */
/** For a file that may be removed meanwhile. */
export function orGone(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

function filesBelowNow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}
