/** A small disk that a test can fill (tmpfs), where this user may mount one. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The folder, or why there is none. */
export function mountSmallDisk(mebibytes = 64): { readonly folder: string } | { readonly refusal: string } {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-small-'))
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { encoding: 'utf8' })
  if (mount.status === 0) return { folder }
  rmSync(folder, { recursive: true })
  return { refusal: `a disk of its own can not be mounted: ${mount.error?.message ?? mount.stderr.trim()}` }
}

export function unmountSmallDisk(folder: string): void {
  const { status, stderr } = spawnSync('umount', [folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${folder} can not be unmounted: ${stderr}`)
  rmSync(folder, { recursive: true })
}

/** Takes all the room that is left; `free` gives it back. */
export function fillDisk(folder: string): void {
  const file = openSync(join(folder, BALLAST), 'a')
  try {
    for (const block of [1 << 20, 4096]) writeUntilFull(file, Buffer.alloc(block, 1))
  } finally {
    closeSync(file)
  }
}

export function freeDisk(folder: string): void {
  rmSync(join(folder, BALLAST), { force: true })
}

const BALLAST = 'ballast'

function writeUntilFull(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
