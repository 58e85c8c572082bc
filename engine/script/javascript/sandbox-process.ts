/**
 * Entry of a sandbox process. A heap that overflows in one great leap ends its whole process (V8 offers no way back), so
 * isolates live in a process of their own that may die at any moment. `sandbox-launch.ts` says what it may do.
 */
import { createRequire } from 'node:module'
import type ivm from 'isolated-vm'
import { TenantIsolates, processorMs } from './tenant-isolates.ts'
import type { SandboxAnswer, SandboxLimits, SandboxNews, SandboxRequest } from './protocol.ts'

// Written by `sandbox-launch.ts` of this same program. No schema library is loaded for it: it would cost each process 12 MiB.
const limits = JSON.parse(process.argv[2] ?? '') as SandboxLimits
// By its path: to look a package up, the process would have to read the folders above.
const native = createRequire(import.meta.url)(process.argv[3] ?? '') as { readonly ivm: typeof ivm }
const isolates = new TenantIsolates(limits, native.ivm)

/** Calls are stopped by the clock on the wall; on a machine with too much to do, one may be stopped that hardly ran. */
const STARVED_TRIES = 5

function tell(news: SandboxNews): void {
  process.send?.(news)
}

function answer(request: SandboxRequest): SandboxAnswer {
  if (request.type === 'compile') return isolates.compile(request)
  for (let tried = 1; ; tried++) {
    if (tried > 1) tell('trying')
    const ran = isolates.run(request, request.batch, request.count, tried >= STARVED_TRIES)
    if (ran !== undefined) return ran
  }
}

process.on('message', (request: SandboxRequest) => {
  const startedAt = performance.now()
  const usedBefore = processorMs()
  const answered = answer(request)
  tell({ answer: answered, runMs: performance.now() - startedAt, usedMs: processorMs() - usedBefore })
})
process.on('disconnect', () => {
  isolates.close()
  process.exit(0)
})
tell('trying')
