/**
 * How many calls to services outside are under way, by count and by bytes, those of their answers too. A tenant has a share of the room, so that one whose service does not
 * answer leaves the rest to the others; who waits is let in tenant by tenant in turn.
 */
import { OutboundErrors } from './errors.ts'

export interface RoomLimits {
  readonly calls: number
  readonly bytes: number
  /** Of one tenant. */
  readonly tenantCalls: number
  readonly tenantBytes: number
  /** Calls of a tenant that wait; further ones are refused. */
  readonly tenantWaiting: number
}

export type RoomFigures = Readonly<Record<'calls' | 'bytes' | 'waiting', number>>

/** A place in the room: the way out, to be taken once, and what the answer takes. */
export interface Place {
  leave(): void
  /**
   * Gives back the bytes of the call, whose answer has begun, and resolves when there is room for those of the answer; what waits holds nothing
   * of it meanwhile, so that no two wait for each other. Rejects when `signal` aborts before. Throws `ANSWER_TOO_BIG`.
   */
  takeAnswer(bytes: number, signal: AbortSignal): Promise<void>
}

interface Waiter {
  /** 0 for an answer, whose call is in already. */
  readonly calls: 0 | 1
  readonly bytes: number
  readonly enter: () => void
}

interface TenantShare {
  calls: number
  bytes: number
  readonly waiting: Set<Waiter>
  /** Answers: they go before the calls that wait, since what is in leaves by them. */
  readonly answers: Set<Waiter>
}

export class CallRoom {
  private readonly limits: RoomLimits
  /** Of tenants with calls under way or waiting. */
  private readonly tenants = new Map<string, TenantShare>()
  private calls = 0
  private bytes = 0

  constructor(limits: RoomLimits) {
    this.limits = limits
  }

  /** Of one answer. */
  get answerLimit(): number {
    return this.limits.tenantBytes
  }

  get figures(): RoomFigures {
    let waiting = 0
    for (const share of this.tenants.values()) waiting += share.waiting.size + share.answers.size
    return { calls: this.calls, bytes: this.bytes, waiting }
  }

  /** Resolves when there is a place. Rejects when `signal` aborts before. Throws `CALL_TOO_BIG`, `TENANT_FULL`. */
  async enter(tenantId: string, bytes: number, signal: AbortSignal): Promise<Place> {
    const { tenantBytes, tenantWaiting } = this.limits
    if (bytes > tenantBytes) throw OutboundErrors.CALL_TOO_BIG({ bytes, limit: tenantBytes })
    const share = this.shareOf(tenantId)
    const isNext = share.waiting.size === 0 && share.answers.size === 0
    if (!isNext || !this.hasPlace(share, { calls: 1, bytes })) {
      if (share.waiting.size >= tenantWaiting)
        throw OutboundErrors.TENANT_FULL({ waiting: share.waiting.size, limit: tenantWaiting })
      await this.wait(tenantId, share, share.waiting, { calls: 1, bytes }, signal)
    } else this.add(share, 1, bytes)
    return this.placeOf(tenantId, share, bytes)
  }

  private placeOf(tenantId: string, share: TenantShare, bytes: number): Place {
    let [held, hasLeft] = [bytes, false]
    return {
      leave: () => {
        if (hasLeft) return
        hasLeft = true
        this.add(share, -1, -held)
        // Behind the others with as many calls.
        this.tenants.delete(tenantId)
        this.tenants.set(tenantId, share)
        this.forgetIdle(tenantId, share)
        this.letIn()
      },
      takeAnswer: async (answer, signal) => {
        const { tenantBytes } = this.limits
        if (answer > tenantBytes) throw OutboundErrors.ANSWER_TOO_BIG({ limit: tenantBytes })
        this.add(share, 0, -held)
        held = 0
        if (share.answers.size === 0 && this.hasPlace(share, { calls: 0, bytes: answer })) this.add(share, 0, answer)
        else {
          const waits = this.wait(tenantId, share, share.answers, { calls: 0, bytes: answer }, signal)
          this.letIn()
          await waits
        }
        // Its call was given up while the room was being made.
        if (!hasLeft) held = answer
        else {
          this.add(share, 0, -answer)
          this.forgetIdle(tenantId, share)
          this.letIn()
        }
      },
    }
  }

  private wait(
    tenantId: string,
    share: TenantShare,
    line: Set<Waiter>,
    wanted: Pick<Waiter, 'calls' | 'bytes'>,
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        line.delete(waiter)
        this.forgetIdle(tenantId, share)
        reject(signal.reason as Error)
        // Who stood behind it may want less.
        this.letIn()
      }
      const waiter: Waiter = {
        ...wanted,
        enter: () => {
          line.delete(waiter)
          signal.removeEventListener('abort', giveUp)
          this.add(share, wanted.calls, wanted.bytes)
          resolve()
        },
      }
      if (signal.aborted) {
        this.forgetIdle(tenantId, share)
        reject(signal.reason as Error)
        return
      }
      line.add(waiter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  private hasPlace(share: TenantShare, { calls, bytes }: Pick<Waiter, 'calls' | 'bytes'>): boolean {
    const { limits } = this
    return (
      this.calls + calls <= limits.calls &&
      this.bytes + bytes <= limits.bytes &&
      share.calls + calls <= limits.tenantCalls &&
      share.bytes + bytes <= limits.tenantBytes
    )
  }

  private add(share: TenantShare, calls: number, bytes: number): void {
    this.calls += calls
    this.bytes += bytes
    share.calls += calls
    share.bytes += bytes
  }

  private letIn(): void {
    for (let next = this.nextWaiter(); next !== undefined; next = this.nextWaiter()) next.enter()
  }

  /** Of those who wait and have a place, one of the tenant with the fewest calls. */
  private nextWaiter(): Waiter | undefined {
    let next: { readonly calls: number; readonly waiter: Waiter } | undefined
    for (const share of this.tenants.values()) {
      const [waiter] = share.answers.size > 0 ? share.answers : share.waiting
      if (waiter === undefined || !this.hasPlace(share, waiter)) continue
      if (next === undefined || share.calls < next.calls) next = { calls: share.calls, waiter }
    }
    return next?.waiter
  }

  private shareOf(tenantId: string): TenantShare {
    const known = this.tenants.get(tenantId)
    if (known !== undefined) return known
    const share: TenantShare = { calls: 0, bytes: 0, waiting: new Set(), answers: new Set() }
    this.tenants.set(tenantId, share)
    return share
  }

  private forgetIdle(tenantId: string, share: TenantShare): void {
    if (share.calls > 0 || share.waiting.size > 0 || share.answers.size > 0) return
    if (this.tenants.get(tenantId) === share) this.tenants.delete(tenantId)
  }
}
