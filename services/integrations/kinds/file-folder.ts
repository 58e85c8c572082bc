/**
 * The folder of an integration, below the tenant's, below the operator's: files are taken from it, and moved to `done/` and `failed/` in it. Nothing is followed
 * out of it: each folder has to be where its name says, and what is no plain file is not opened.
 */
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, realpath, rename, truncate, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { IntegrationErrors } from '../errors.ts'

export interface FoundFile {
  readonly name: string
  readonly size: number
  readonly modified: number
  readonly node: number
}

/** In one look. */
const MAX_FILES = 10_000
const DONE = 'done'
const FAILED = 'failed'

export class FileFolder {
  private readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Makes what is not there. Throws `FOLDER` where a part of it leads elsewhere, or cannot be made. */
  static async open(root: string, tenantId: string, folder: string): Promise<FileFolder> {
    try {
      let path = await realpath(root)
      for (const segment of [tenantId, ...folder.split('/')]) path = await made(join(path, segment))
      for (const segment of [DONE, FAILED]) await made(join(path, segment))
      return new FileFolder(path)
    } catch (error) {
      throw IntegrationErrors.FOLDER({ folder, reason: reasonOf(error) }, error)
    }
  }

  /** Plain files, by name; those whose names begin with a dot are left out. */
  async files(): Promise<readonly FoundFile[]> {
    await this.check('.')
    const entries = await readdir(this.path, { withFileTypes: true })
    const names = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name)
    const found: FoundFile[] = []
    for (const name of names.toSorted().slice(0, MAX_FILES)) {
      const file = await this.find(name)
      if (file !== undefined) found.push(file)
    }
    return found
  }

  async find(name: string): Promise<FoundFile | undefined> {
    try {
      const { size, mtimeMs, ino, nlink, ...stats } = await lstat(join(this.path, name))
      // A file with a second name may be another's.
      const isPlain = (stats.mode & constants.S_IFMT) === constants.S_IFREG && nlink === 1
      return isPlain ? { name, size, modified: Math.trunc(mtimeMs), node: ino } : undefined
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async read(name: string): Promise<FileHandle> {
    await this.check('.')
    return open(join(this.path, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  }

  /** Of bad lines of a file that is being read; nobody sees it before it is whole. */
  async report(name: string): Promise<FileHandle> {
    await this.check(FAILED)
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
    return open(join(this.path, FAILED, `.${name}.report`), flags, 0o644)
  }

  /** Under a name that nothing has there. `reportBytes`: of the report; undefined: nothing is bad, and there is none. */
  async finish(name: string, reportBytes: number | undefined): Promise<void> {
    const target = reportBytes === undefined ? DONE : FAILED
    await this.check(target)
    const folder = join(this.path, target)
    const free = await freeName(folder, name)
    await this.finishReport(name, free, reportBytes)
    await rename(join(this.path, name), join(folder, free))
  }

  /** It may have been moved already, by one who was killed before the file was. */
  private async finishReport(name: string, free: string, reportBytes: number | undefined): Promise<void> {
    await this.check(FAILED)
    const folder = join(this.path, FAILED)
    const hidden = join(folder, `.${name}.report`)
    try {
      if (reportBytes === undefined) return await unlink(hidden)
      await truncate(hidden, reportBytes)
      await rename(hidden, join(folder, `${free}.report`))
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }

  private async check(segment: string): Promise<void> {
    const path = join(this.path, segment)
    if ((await realpath(path)) !== path) throw IntegrationErrors.FOLDER({ folder: segment, reason: LEADS_ELSEWHERE })
  }
}

const LEADS_ELSEWHERE = 'it leads elsewhere'

/** Resolves with the path. */
async function made(path: string): Promise<string> {
  await mkdir(path).catch((error: unknown) => {
    if (!isCode(error, 'EEXIST')) throw error
  })
  if (!(await lstat(path)).isDirectory()) throw new Error(LEADS_ELSEWHERE)
  return path
}

async function freeName(folder: string, name: string): Promise<string> {
  for (let count = 1; ; count++) {
    const tried = count === 1 ? name : `${name}.${count}`
    const isThere = await lstat(join(folder, tried)).then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false
        throw error
      },
    )
    if (!isThere) return tried
  }
}

export function isMissing(error: unknown): boolean {
  return isCode(error, 'ENOENT')
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Tenants see no paths of the operator's. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.message : 'unknown'
}
