/**
 * Entry of a pool thread: keeps one sandbox process and hands it one request at a time, so that neither the pipe nor a
 * process's start and death is the event loop's business.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { workerData as poolData } from 'piscina'
import type { SandboxLimits, SandboxRequest, TimedAnswer } from './protocol.ts'

const limits = poolData as SandboxLimits
let sandbox: ChildProcess | undefined

function start(): ChildProcess {
  const child = fork(new URL('./sandbox-process.ts', import.meta.url), [JSON.stringify(limits)], {
    execArgv: [
      '--no-node-snapshot',
      '--disable-warning=ExperimentalWarning',
      '--permission',
      '--allow-addons',
      '--allow-worker',
      '--allow-fs-read=*',
    ],
    // Nothing of the environment but the time zone, which is part of what `Date` means.
    env: process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  child.once('exit', () => {
    if (sandbox === child) sandbox = undefined
  })
  return child
}

/** Asks the sandbox process; one that dies under the request is an answer too, and the next request finds a new one. */
export default function ask(request: SandboxRequest): Promise<TimedAnswer> {
  const child = (sandbox ??= start())
  const askedAt = performance.now()
  return new Promise((resolve) => {
    const settle = (answer: TimedAnswer): void => {
      child.off('message', settle)
      child.off('exit', died)
      child.off('error', broke)
      resolve(answer)
    }
    const end = (reason: string): void => {
      const runMs = performance.now() - askedAt
      // What it used died with it.
      settle({ answer: { type: 'died', reason }, runMs, usedMs: runMs })
    }
    const died = (code: number | null, signal: string | null): void => {
      end(`sandbox process ended with ${signal ?? `code ${code}`}`)
    }
    const broke = (error: Error): void => {
      if (sandbox === child) sandbox = undefined
      child.kill('SIGKILL')
      end(error.message)
    }
    child.on('message', settle)
    child.on('exit', died)
    child.on('error', broke)
    child.send(request, (error) => {
      if (error !== null) broke(error)
    })
  })
}
