/**
 * Entry of a pool thread: keeps one sandbox process and hands it one request at a time, so that neither the pipe nor a
 * process's start and death is the event loop's business.
 */
import type { ChildProcess } from 'node:child_process'
import { workerData as poolData } from 'piscina'
import { systemClock } from '../../../model/system-clock.ts'
import { isTrying, type SandboxLimits, type SandboxNews, type SandboxRequest, type TimedAnswer } from './protocol.ts'
import { startSandbox } from './sandbox-launch.ts'
import { Watchdog } from './watchdog.ts'

const limits = poolData as SandboxLimits
const watchdog = new Watchdog(systemClock, limits.timeoutMs * 2 + 500)
let sandbox: { readonly process: ChildProcess; isReady: boolean } | undefined

function start(): NonNullable<typeof sandbox> {
  const started = { process: startSandbox(limits), isReady: false }
  started.process.once('exit', () => {
    if (sandbox === started) sandbox = undefined
  })
  return started
}

/** Asks the sandbox process; one that dies under the request is an answer too, and the next request finds a new one. */
export default function ask(request: SandboxRequest): Promise<TimedAnswer> {
  const asked = (sandbox ??= start())
  const child = asked.process
  const askedAt = performance.now()
  const watch = (): void => {
    if (child.pid !== undefined) watchdog.arm(child.pid)
  }
  return new Promise((resolve) => {
    const settle = (answer: TimedAnswer): void => {
      watchdog.disarm()
      child.off('message', hear)
      child.off('exit', died)
      child.off('error', broke)
      resolve(answer)
    }
    const hear = (news: SandboxNews): void => {
      if (!isTrying(news)) return settle(news)
      asked.isReady = true
      watch()
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
      if (sandbox === asked) sandbox = undefined
      child.kill('SIGKILL')
      end(error.message)
    }
    child.on('message', hear)
    child.on('exit', died)
    child.on('error', broke)
    child.send(request, (error) => {
      if (error !== null) broke(error)
    })
    // Until it has started, the time is the machine's and no script's.
    if (asked.isReady) watch()
  })
}
