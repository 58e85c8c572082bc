/**
 * The isolates of one sandbox process: one a tenant, in it one context a script. Both are caches with a bound; what was
 * put out is made again on demand. Nothing of the host is ever handed to a guest: texts go in, one text comes out.
 */
import type ivm from 'isolated-vm'
import { closeRealm, freezeRealm } from './guest-realm.ts'
import { createHarness, type HarnessOptions } from './guest-harness.ts'
import type { GuestError, SandboxAnswer, SandboxLimits, ScriptIdentity, SourceFault } from './protocol.ts'

const FILE_NAME = 'script.js'
const OUTPUT_LIMIT = 2_000_000

interface GuestScript {
  readonly context: ivm.Context
  readonly run: ivm.Reference
  readonly finished: ivm.Reference
}

interface TenantIsolate {
  readonly isolate: ivm.Isolate
  readonly scripts: Map<number, GuestScript>
  /** Something ran in it, or more than one script is in it. */
  used: boolean
}

/** Thrown by `prepare` where the author's text is no function body. */
class SourceRefused extends Error {
  readonly fault: SourceFault
  constructor(fault: SourceFault) {
    super(fault.reason)
    this.fault = fault
  }
}

export class TenantIsolates {
  private readonly limits: SandboxLimits
  private readonly engine: typeof ivm
  private readonly tenants = new Map<string, TenantIsolate>()

  constructor(limits: SandboxLimits, engine: typeof ivm) {
    this.limits = limits
    this.engine = engine
  }

  /** Compiles a script without running it. */
  compile(identity: ScriptIdentity): SandboxAnswer {
    try {
      this.scriptOf(identity)
      return { type: 'compiled' }
    } catch (error) {
      if (this.dropBroken(identity)) return this.compile(identity)
      if (error instanceof SourceRefused) return { type: 'refused', fault: error.fault }
      return { type: 'refused', fault: { line: 0, column: 0, reason: (error as Error).message } }
    }
  }

  /**
   * Runs as much of a batch as goes in one call's time; see {@link SandboxAnswer}. Undefined where the machine gave the call
   * next to no time before it was stopped: worth another try, unless `lastTry`.
   */
  run(identity: ScriptIdentity, batch: string, count: number, lastTry: boolean): SandboxAnswer | undefined {
    let script: GuestScript | undefined
    const usedBefore = processorMs()
    try {
      script = this.scriptOf(identity)
      const answer = ran(script.run.applySync(undefined, [batch, 0], { timeout: this.limits.timeoutMs }))
      this.tenantOf(identity.tenantId).used = true
      return answer
    } catch (error) {
      // What others left in the heap is not this batch's fault: it gets an isolate of its own before it is blamed.
      if (this.dropBroken(identity)) return this.run(identity, batch, count, lastTry)
      const tenant = this.tenants.get(identity.tenantId)
      if (tenant === undefined || tenant.isolate.isDisposed) {
        this.tenants.delete(identity.tenantId)
        return count > 1 ? NOTHING_RAN : failed({ error: 'memory' })
      }
      if (error instanceof SourceRefused) return { type: 'refused', fault: error.fault }
      const starved = !lastTry && processorMs() - usedBefore < this.limits.timeoutMs / 2
      const answer = script === undefined ? failed(hostFailure(error)) : this.stopped(script, error, starved)
      // Whatever the stopped code left half done goes with its context.
      this.dropScript(tenant, identity.scriptId)
      return answer
    }
  }

  close(): void {
    for (const { isolate } of this.tenants.values()) if (!isolate.isDisposed) isolate.dispose()
    this.tenants.clear()
  }

  /**
   * A call was stopped: what it had finished counts; where that is nothing, its first message is the culprit. Undefined:
   * the machine gave the call no time, so it is worth another try.
   */
  private stopped(script: GuestScript, error: unknown, starved: boolean): SandboxAnswer | undefined {
    const reason = (error as Error).message
    try {
      const finished: unknown = script.finished.applySync(undefined, [], { timeout: this.limits.timeoutMs * 10 })
      if (finished !== '[]') return ran(finished)
    } catch {
      // The isolate broke while it was asked: the message alone will show it.
      return NOTHING_RAN
    }
    if (reason === 'Script execution timed out.') {
      return starved ? undefined : failed({ error: 'timeout', ...positionOf(error) })
    }
    return failed(hostFailure(error))
  }

  private scriptOf(identity: ScriptIdentity): GuestScript {
    const tenant = this.tenantOf(identity.tenantId)
    const known = tenant.scripts.get(identity.scriptId)
    if (known !== undefined) {
      if (tenant.scripts.size > 1) touch(tenant.scripts, identity.scriptId, known)
      return known
    }
    const script = prepare(tenant.isolate, identity, this.limits)
    tenant.scripts.set(identity.scriptId, script)
    if (tenant.scripts.size > 1) tenant.used = true
    if (tenant.scripts.size > this.limits.scripts) this.dropScript(tenant, oldest(tenant.scripts))
    return script
  }

  private tenantOf(tenantId: string): TenantIsolate {
    const known = this.tenants.get(tenantId)
    if (known !== undefined && !known.isolate.isDisposed) {
      if (this.tenants.size > 1) touch(this.tenants, tenantId, known)
      return known
    }
    const tenant = {
      isolate: new this.engine.Isolate({ memoryLimit: this.limits.memoryLimitMb }),
      scripts: new Map<number, GuestScript>(),
      used: false,
    }
    this.tenants.set(tenantId, tenant)
    if (this.tenants.size > this.limits.isolates) {
      const out = oldest(this.tenants)
      this.tenants.get(out)?.isolate.dispose()
      this.tenants.delete(out)
    }
    return tenant
  }

  /** Drops an isolate that is over its memory limit; true where it had served before. */
  private dropBroken({ tenantId }: ScriptIdentity): boolean {
    const tenant = this.tenants.get(tenantId)
    if (tenant === undefined || !tenant.isolate.isDisposed || !tenant.used) return false
    this.tenants.delete(tenantId)
    return true
  }

  private dropScript(tenant: TenantIsolate, scriptId: number): void {
    const script = tenant.scripts.get(scriptId)
    if (script === undefined) return
    tenant.scripts.delete(scriptId)
    script.run.release()
    script.finished.release()
    script.context.release()
  }
}

/** Processor time of this process so far, ms. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const NOTHING_RAN: SandboxAnswer = { type: 'ran', outcomes: '[]', count: 0 }

function ran(outcomes: unknown): SandboxAnswer {
  if (typeof outcomes !== 'string') throw new Error('sandbox answered with something else than text')
  return { type: 'ran', outcomes, count: -1 }
}

function failed(error: GuestError): SandboxAnswer {
  return { type: 'ran', outcomes: JSON.stringify([error]), count: 1 }
}

function hostFailure(error: unknown): GuestError {
  return { error: 'runtime', reason: (error as Error).message.slice(0, 1000), line: 0, column: 0 }
}

/** A hardened context with the harness and the user's function in it. Throws {@link SourceRefused}. */
function prepare(isolate: ivm.Isolate, { kind, body }: ScriptIdentity, limits: SandboxLimits): GuestScript {
  const source = `(function (msg, metadata, msgType) {\n${body}\n})`
  let compiled: ivm.Script
  try {
    compiled = isolate.compileScriptSync(source, { filename: FILE_NAME, lineOffset: -1 })
  } catch (error) {
    throw new SourceRefused(syntaxFault(error))
  }
  const context = isolate.createContextSync()
  const options: HarnessOptions = {
    kind,
    resultLimit: limits.resultLimit,
    outputLimit: OUTPUT_LIMIT,
    fileName: FILE_NAME,
  }
  const harness = context.evalSync(
    `(() => { const compile = Function; (${String(closeRealm)})(); (${String(freezeRealm)})(); return (${String(createHarness)})(${JSON.stringify(options)}, compile) })()`,
    { reference: true, filename: 'sandbox.js' },
  )
  try {
    // The text must be a function's body on its own, or it could end the function and run at once.
    harness.getSync('check', { reference: true }).applySync(undefined, [body], { timeout: limits.timeoutMs * 10 })
  } catch (error) {
    context.release()
    throw new SourceRefused(syntaxFault(error))
  }
  const script = compiled.runSync(context, { reference: true, timeout: limits.timeoutMs * 10 })
  harness.getSync('use', { reference: true }).applySync(undefined, [script.derefInto({ release: true })])
  const run = harness.getSync('run', { reference: true })
  const finished = harness.getSync('finished', { reference: true })
  harness.release()
  compiled.release()
  return { context, run, finished }
}

/** isolated-vm puts the place of a syntax error behind its text: `… [script.js:2:11]`. */
function syntaxFault(error: unknown): SourceFault {
  const { message } = error as Error
  if (message === 'Single function literal required')
    return { line: 0, column: 0, reason: 'a closing brace ends the function too early' }
  const match = /^(.*) \[script\.js:(-?\d+):(\d+)\]$/s.exec(message)
  if (match === null) return { line: 0, column: 0, reason: message }
  return { line: Math.max(1, Number(match[2])), column: Number(match[3]), reason: match[1] ?? message }
}

function positionOf(error: unknown): { readonly line: number; readonly column: number } {
  const match = /script\.js:(\d+):(\d+)/.exec(String((error as Error).stack))
  return { line: Number(match?.[1] ?? 0), column: Number(match?.[2] ?? 0) }
}

function touch<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
}

function oldest<Key>(map: Map<Key, unknown>): Key {
  const first = map.keys().next()
  if (first.done === true) throw new Error('an empty cache has no oldest entry')
  return first.value
}
