/** One node's client under the policy: opened when it is used, its calls bounded in number and time, its errors without secrets. */
import type { Clock } from '../../model/clock.ts'
import { errorText, isMillraceError, MillraceError } from '../../model/errors.ts'
import type { OutboundClient } from '../../engine/rulechain/capabilities/outbound.ts'
import type { CallRoom } from './call-room.ts'
import { OutboundErrors } from './errors.ts'
import type { RawClient } from './raw-client.ts'

/** Of a service that does not answer a log-in, or to the end: the stop of the process, and of a chain, waits for it. */
const CLOSE_MS = 5000

export interface ManagedParts<Call, Answer> {
  readonly tenantId: string
  readonly room: CallRoom
  readonly clock: Clock
  /** Calls at a time. */
  readonly parallel: number
  readonly timeoutMs: number
  /** `closing` aborts when nobody needs what is being opened any more. */
  readonly open: (closing: AbortSignal) => Promise<RawClient<Call, Answer>>
  readonly hide: (text: string) => string
  readonly closed: () => void
}

export class ManagedClient<Call, Answer> implements OutboundClient<Call, Answer> {
  private readonly parts: ManagedParts<Call, Answer>
  private opened: Promise<RawClient<Call, Answer>> | undefined
  private running = 0
  private readonly line: (() => void)[] = []
  private readonly closing = new AbortController()

  constructor(parts: ManagedParts<Call, Answer>) {
    this.parts = parts
  }

  async ready(): Promise<void> {
    try {
      await this.within((signal) => untilAborted(this.client(), signal))
    } catch (error) {
      throw this.shown(error)
    }
  }

  async call(call: Call, bytes: number): Promise<Answer> {
    try {
      return await this.within((signal) => this.inTurn(call, bytes, signal))
    } catch (error) {
      throw this.shown(error)
    }
  }

  async close(): Promise<void> {
    if (this.closing.signal.aborted) return
    this.closing.abort()
    this.parts.closed()
    // What never opened has nothing to close; what opens later is closed then, and not waited for.
    const closed = this.opened?.then(
      (client) => client.close(),
      () => undefined,
    )
    const late = Promise.withResolvers<void>()
    const timer = this.parts.clock.after(CLOSE_MS, late.resolve)
    try {
      await Promise.race([closed, late.promise])
    } finally {
      timer.cancel()
    }
  }

  private async inTurn(call: Call, bytes: number, signal: AbortSignal): Promise<Answer> {
    await this.turn(signal)
    try {
      const place = await this.parts.room.enter(this.parts.tenantId, bytes, signal)
      try {
        const client = await untilAborted(this.client(), signal)
        const takeAnswer = (size: number): Promise<void> => place.takeAnswer(size, signal)
        return await untilAborted(client.call(call, signal, takeAnswer), signal)
      } finally {
        place.leave()
      }
    } finally {
      this.running--
      this.line.shift()?.()
    }
  }

  /** Resolves when one of the node's calls may begin. */
  private async turn(signal: AbortSignal): Promise<void> {
    if (this.running >= this.parts.parallel) {
      await new Promise<void>((resolve, reject) => {
        const begin = (): void => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        const giveUp = (): void => {
          this.line.splice(this.line.indexOf(begin), 1)
          reject(signal.reason as Error)
        }
        this.line.push(begin)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    }
    this.running++
  }

  private client(): Promise<RawClient<Call, Answer>> {
    const { signal } = this.closing
    if (signal.aborted) throw OutboundErrors.CLOSED()
    this.opened ??= this.parts.open(signal).catch((error: unknown) => {
      // The next call tries again.
      this.opened = undefined
      throw error
    })
    return this.opened
  }

  private async within<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { clock, timeoutMs } = this.parts
    const abort = new AbortController()
    const timer = clock.after(timeoutMs, () => abort.abort(OutboundErrors.TIMEOUT({ ms: timeoutMs })))
    try {
      return await run(abort.signal)
    } finally {
      timer.cancel()
    }
  }

  /** The cause is left behind: it may quote a secret, and logs show causes. */
  private shown(error: unknown): Error {
    const text = this.parts.hide(errorText(error))
    if (isMillraceError(error)) return text === error.message ? error : retold(error, text)
    const name = error instanceof Error ? nameOf(error) : 'Error'
    return Object.assign(OutboundErrors.CALL_FAILED({ reason: text === '' ? name : text }), { name })
  }
}

/** With another text, and tried again or not as before. */
function retold({ code, kind, status, isTimeout, isOutage, isOwnLimit }: MillraceError, text: string): Error {
  return new MillraceError(code, { kind, status, isTimeout, isOutage, isOwnLimit, text: '{text}' }, { text })
}

/** The code that systems and libraries give says more than the class that they all share. */
function nameOf(error: Error): string {
  const code: unknown = 'code' in error ? error.code : undefined
  return error.name === 'Error' && typeof code === 'string' ? code : error.name
}

/** A client that does not hear of the end of its time is not waited for. */
function untilAborted<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
