/** A command of the program (`npm start -- …`) in a process of its own, so that it can be killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { MILLRACE, PROJECT_ROOT } from './start-millrace.ts'

export interface EndedCommand {
  /** Null: it was killed. */
  readonly code: number | null
  /** Of both streams. */
  readonly output: string
}

export interface RunningCommand {
  readonly pid: number
  readonly ended: Promise<EndedCommand>
  /** What it wrote so far. */
  output(): string
  /** SIGKILL. */
  kill(): void
}

export function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): RunningCommand {
  const child = spawn(process.execPath, [...MILLRACE, ...args], {
    cwd: PROJECT_ROOT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return {
    pid: child.pid ?? 0,
    ended: once(child, 'close').then(() => ({ code: child.exitCode, output })),
    output: () => output,
    kill: () => void child.kill('SIGKILL'),
  }
}
