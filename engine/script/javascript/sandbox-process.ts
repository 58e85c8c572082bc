/**
 * Entry of a sandbox process. A heap that overflows in one great leap ends its whole process (V8 offers no way back), so
 * isolates live in a process of their own, with an empty environment and no rights to files: it may die at any moment.
 */
import { TenantIsolates, processorMs } from './tenant-isolates.ts'
import { Watchdog } from './watchdog.ts'
import type { SandboxAnswer, SandboxLimits, SandboxRequest, TimedAnswer } from './protocol.ts'

// Written by `sandbox-thread.ts` of this same program. No schema library is loaded for it: it would cost each process 12 MiB.
const limits = JSON.parse(process.argv[2] ?? '') as SandboxLimits
const isolates = new TenantIsolates(limits)
const watchdog = new Watchdog(limits.timeoutMs * 2 + 500)

/** Calls are stopped by the clock on the wall; on a machine with too much to do, one may be stopped that hardly ran. */
const STARVED_TRIES = 5

function watched<Result>(work: () => Result): Result {
  watchdog.arm()
  try {
    return work()
  } finally {
    watchdog.disarm()
  }
}

function answer(request: SandboxRequest): SandboxAnswer {
  if (request.type === 'compile') return watched(() => isolates.compile(request))
  for (let tried = 1; ; tried++) {
    const ran = watched(() => isolates.run(request, request.batch, request.count, tried >= STARVED_TRIES))
    if (ran !== undefined) return ran
  }
}

process.on('message', (request: SandboxRequest) => {
  const startedAt = performance.now()
  const usedBefore = processorMs()
  const answered = answer(request)
  const timed: TimedAnswer = {
    answer: answered,
    runMs: performance.now() - startedAt,
    usedMs: processorMs() - usedBefore,
  }
  process.send?.(timed)
})
process.on('disconnect', () => {
  isolates.close()
  process.exit(0)
})
