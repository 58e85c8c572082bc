/**
 * Errors of the disk for a process that runs: strace makes system calls on chosen files fail. A write to a file that is opened to be
 * synced (`O_DSYNC`) is its own sync, so that which calls sync a store's files is the caller's to say. Every call of a process under
 * strace stops twice: keep the load on it moderate.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

export interface DiskErrorOptions {
  readonly pid: number
  /** Whole paths; also of files that are not there yet. */
  readonly files: readonly string[]
  /** The system calls that fail with EIO. */
  readonly calls: readonly string[]
  /** Which of a thread's calls on these files fail, in strace's words: `2` is the second alone, `1+` are all. */
  readonly when: string
}

/** A write or a sync of one of the files, in the order of their ends. */
export interface DiskCall {
  readonly name: string
  readonly path: string
  readonly isFailed: boolean
}

export interface DiskErrors {
  /** What was called until now. */
  readonly calls: () => Promise<readonly DiskCall[]>
  /** The disk is whole again; resolves with all that was called. Idempotent. */
  readonly heal: () => Promise<readonly DiskCall[]>
}

/** What is traced beside the calls that fail. */
const TRACED = ['pwrite64', 'pwritev', 'pwritev2', 'fdatasync', 'fsync']

/** Resolves once the calls fail. The process runs on when the test ends, however that comes. */
export async function startDiskErrors(context: TestContext, options: DiskErrorOptions): Promise<DiskErrors> {
  const { pid, files, calls, when } = options
  const folder = await mkdtemp(join(tmpdir(), 'millrace-disk-errors-'))
  const file = join(folder, 'calls')
  const strace = spawn(
    'strace',
    [
      ...['-f', '-y', '-s', '0', '-o', file, '-p', String(pid)],
      ...files.flatMap((path) => ['-P', path]),
      ...['-e', `trace=${TRACED.join(',')}`, '-e', `inject=${calls.join(',')}:error=EIO:when=${when}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = once(strace, 'exit')
  let said = ''
  let healing: Promise<readonly DiskCall[]> | undefined
  const heal = (): Promise<readonly DiskCall[]> =>
    (healing ??= (async () => {
      strace.kill('SIGINT')
      await ended
      return parseCalls(await readFile(file, 'utf8'))
    })())
  context.after(async () => {
    await heal()
    await rm(folder, { recursive: true, force: true })
  })
  for await (const line of createInterface({ input: strace.stderr })) {
    said += `${line}\n`
    if (line.includes('attached')) {
      strace.stderr.resume()
      return { calls: async () => parseCalls(await readFile(file, 'utf8')), heal }
    }
  }
  throw new Error(`strace did not attach: ${said}`)
}

const LINE = /^(\d+) +(.*)$/
const COMPLETE = /^(\w+)\(\d+<([^>]*)>.*\) += (-?\d+)/
const UNFINISHED = / <unfinished \.\.\.>$/
const RESUMED = /^<\.\.\. \w+ resumed>(.*)$/

/** Calls of several threads are interleaved: what one began, a later line of the same thread ends. */
function parseCalls(text: string): DiskCall[] {
  const begun = new Map<string, string>()
  const calls: DiskCall[] = []
  for (const line of text.split('\n')) {
    const [, thread = '', rest = ''] = LINE.exec(line) ?? []
    if (UNFINISHED.test(rest)) {
      begun.set(thread, rest.replace(UNFINISHED, ''))
      continue
    }
    const tail = RESUMED.exec(rest)?.[1]
    const whole = tail === undefined ? rest : (begun.get(thread) ?? '') + tail
    const [, name, path = '', result] = COMPLETE.exec(whole) ?? []
    if (name !== undefined) calls.push({ name, path, isFailed: Number(result) < 0 })
  }
  return calls
}
