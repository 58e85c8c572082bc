/**
 * A disk whose power can be cut: a folder, and a library that is loaded before a process and keeps beside the folder what a disk
 * would hold of it if the power went now (`shadow-disk.h` says what that is). Built by `cc` for each use.
 */
import { MALLOC_SETTINGS } from '../../../compose/malloc.ts'
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { link, mkdir, mkdtemp, open, readFile, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { requireTool } from '../require-tool.ts'
import type { SeededRandom } from '../seeded-random.ts'

const PAGE_BYTES = 4096
const MAY_BE_ABSENT = { throwIfNoEntry: false } as const

export interface PowerCutDisk {
  /** Where the process writes. What the first process finds in it is durable, and what the first after a cut does. */
  readonly folder: string
  /** For the process. What one that died did not sync is still not synced for the next one, where the power was not cut between them. */
  readonly environment: Readonly<Record<string, string>>
  /** The same, and the process dies by itself (SIGKILL) within the given one of its syncs, the first being 1. */
  environmentCutAt(sync: number): Readonly<Record<string, string>>
  /**
   * What is left in the folder is what was durable when the process died, which it did before this is called. Nothing else is left,
   * or with `survivors` by chance some pages and names of what was not synced: a system writes them when it likes.
   */
  cut(survivors?: SeededRandom): Promise<void>
  remove(): Promise<void>
}

/** As `shadow-disk.h` has them. */
interface Places {
  readonly folder: string
  readonly objects: string
  readonly tree: string
}

/** Undefined when the test was skipped, as it is where `cc` is absent. Throws with what the compiler says. */
export async function makePowerCutDisk(context: TestContext): Promise<PowerCutDisk | undefined> {
  if (process.platform !== 'linux') {
    assert.notEqual(
      process.env['REQUIRE_REAL'],
      '1',
      'power cuts are required, and made before the calls of glibc on Linux',
    )
    context.skip('stands before the calls of glibc, on Linux')
    return undefined
  }
  if (!requireTool(context, 'cc')) return undefined
  const base = await mkdtemp(join(tmpdir(), 'millrace-power-cut-'))
  const folder = join(base, 'folder')
  const shadow = join(base, 'shadow')
  const library = join(base, 'shadow-disk.so')
  await mkdir(folder)
  const sources = ['shadow-disk.c', 'hooks.c'].map((name) => join(import.meta.dirname, name))
  const options = ['-std=gnu17', '-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', library]
  await promisify(execFile)('cc', [...options, ...sources, '-ldl', '-lpthread'])
  const environment = {
    LD_PRELOAD: library,
    POWER_CUT_FOLDER: folder,
    POWER_CUT_SHADOW: shadow,
    // Else it would begin a second time, without the library.
    ...MALLOC_SETTINGS,
    // Its writes and syncs are no calls of libc's.
    UV_USE_IO_URING: '0',
  }
  return {
    folder,
    environment,
    environmentCutAt: (sync) => ({ ...environment, POWER_CUT_AT_SYNC: String(sync) }),
    cut: async (survivors) => {
      const tree = join(shadow, 'tree')
      if (survivors !== undefined) {
        const places = { folder, objects: join(shadow, 'objects'), tree }
        await letNamesSurvive(places, survivors)
        await letPagesSurvive(places, survivors)
      }
      await rm(folder, { recursive: true })
      await rename(tree, folder)
      await rm(shadow, { recursive: true })
    },
    remove: () => rm(base, { recursive: true, force: true }),
  }
}

/** By chance a directory's names are those that the process left, all of them: a journal keeps their order. */
async function letNamesSurvive({ folder, objects, tree }: Places, random: SeededRandom): Promise<void> {
  const directories = ['.']
  for (const directory of directories) {
    if (random.next() < 0.5) await takeNames({ folder: join(folder, directory), objects, tree: join(tree, directory) })
    const entries = await readdir(join(tree, directory), { withFileTypes: true })
    const inner = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name))
    directories.push(...inner.sort())
  }
}

async function takeNames({ folder, objects, tree }: Places): Promise<void> {
  if (statSync(folder, MAY_BE_ABSENT) === undefined) return // The process removed it.
  const names = await readdir(folder)
  for (const entry of await readdir(tree, { withFileTypes: true }))
    if (entry.isFile() && !names.includes(entry.name)) await rm(join(tree, entry.name))
  for (const name of names) {
    const object = join(objects, String(inodeOf(join(folder, name))))
    const kind = statSync(object, MAY_BE_ABSENT) // A directory whose name is durable is no object any more.
    if (kind?.isDirectory() === true) await rename(object, join(tree, name))
    if (kind?.isFile() !== true) continue
    await rm(join(tree, name), { force: true })
    await link(object, join(tree, name))
  }
}

/** By chance pages of files are those that were written. A file that took another's name has nothing to give to that one. */
async function letPagesSurvive({ folder, objects, tree }: Places, random: SeededRandom): Promise<void> {
  const entries = await readdir(tree, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  for (const file of files.sort()) {
    const written = join(folder, relative(tree, file))
    const inode = inodeOf(written)
    if (inode === undefined || inodeOf(join(objects, String(inode))) !== inodeOf(file)) continue
    const handle = await open(file, 'r+')
    try {
      await copyPages(handle, await readFile(file), await readFile(written), random)
    } finally {
      await handle.close()
    }
  }
}

async function copyPages(file: FileHandle, synced: Buffer, written: Buffer, random: SeededRandom): Promise<void> {
  const share = random.next()
  for (let start = 0; start < written.length; start += PAGE_BYTES) {
    const page = written.subarray(start, start + PAGE_BYTES)
    if (page.equals(synced.subarray(start, start + PAGE_BYTES)) || random.next() >= share) continue
    await file.write(page, 0, page.length, start)
  }
}

/** Undefined where there is no such file. */
function inodeOf(path: string): number | undefined {
  return statSync(path, MAY_BE_ABSENT)?.ino
}
