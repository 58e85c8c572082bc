/** The file of refused lines: `Line 7: why`, each line once, in their order, whoever was killed on the way. */
import { open, readFile, type FileHandle } from 'node:fs/promises'

export class ErrorLines {
  readonly path: string
  private last: number

  private constructor(path: string, last: number) {
    this.path = path
    this.last = last
  }

  /** What is there is kept where an import goes on; a line that was cut off is taken away. */
  static async open(path: string, isGoingOn: boolean): Promise<ErrorLines> {
    const text = await textIn(path)
    if (text === undefined) return new ErrorLines(path, 0)
    const whole = isGoingOn ? text.slice(0, text.lastIndexOf('\n') + 1) : ''
    const handle = await open(path, 'r+')
    try {
      await handle.truncate(Buffer.byteLength(whole))
      await handle.sync()
    } finally {
      await handle.close()
    }
    return new ErrorLines(path, numberOf(whole.trimEnd().split('\n').at(-1)))
  }

  /** Resolves when they are on the disk. Those that are there already are left out. */
  async add(lines: readonly string[]): Promise<void> {
    const fresh = lines.filter((line) => numberOf(line) > this.last).toSorted((a, b) => numberOf(a) - numberOf(b))
    if (fresh.length === 0) return
    const handle: FileHandle = await open(this.path, 'a')
    try {
      await handle.appendFile(fresh.map((line) => `${line.replaceAll('\n', ' ')}\n`).join(''))
      await handle.sync()
    } finally {
      await handle.close()
    }
    this.last = numberOf(fresh.at(-1))
  }
}

/** Undefined where there is no such file. One that can not be read is not one that is not there: its lines would be written twice. */
async function textIn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function numberOf(line: string | undefined): number {
  return Number(/^Line (\d+):/.exec(line ?? '')?.[1] ?? 0)
}
