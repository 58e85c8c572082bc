/**
 * The way of calls between the processes of a cluster: callers, owners of devices, and transports. What goes to the process itself takes a
 * turn of its own, so that nobody is called from inside a call. A word that is lost is made good by who waits: sessions say again that
 * they listen, callers stop waiting.
 */
import { z } from 'zod'
import type { Clock } from '../../../model/clock.ts'
import type { ClusterBus } from '../../cluster/bus.ts'

const listening = z.object({ deviceId: z.string(), session: z.int(), take: z.enum(['all', 'next']) })
const call = z.object({
  id: z.string(),
  tenantId: z.string(),
  deviceId: z.string(),
  method: z.string(),
  params: z.string(),
  isOneway: z.boolean(),
  isPersistent: z.boolean(),
  expirationTime: z.number(),
  retries: z.number().nullable(),
  additionalInfo: z.string().nullable(),
  origin: z.string(),
  node: z.string().optional(),
})

const toOwner = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('call'), call }),
  z.object({ kind: z.literal('listening'), from: z.string(), sessions: z.array(listening) }),
  z.object({ kind: z.literal('deaf'), from: z.string(), deviceId: z.string(), session: z.int() }),
  z.object({
    kind: z.literal('delivery'),
    deviceId: z.string(),
    id: z.int(),
    delivery: z.enum(['SENT', 'DELIVERED']),
  }),
  z.object({ kind: z.literal('response'), deviceId: z.string(), id: z.int(), body: z.string() }),
  z.object({ kind: z.literal('withdrawn'), deviceId: z.string(), callId: z.string() }),
  /** It went to another tenant: calls of the former one reach it no more. */
  z.object({ kind: z.literal('moved'), deviceId: z.string(), formerTenantId: z.string() }),
])
const toTransport = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('request'),
    deviceId: z.string(),
    session: z.int(),
    request: z.object({ id: z.int(), method: z.string(), params: z.string() }),
  }),
  /** The answer to what a device called. */
  z.object({ kind: z.literal('reply'), replyId: z.string(), body: z.string() }),
])
const toWaiter = z.object({ kind: z.literal('answer'), id: z.string(), body: z.string() })

export type OwnerWord = z.infer<typeof toOwner>
export type TransportWord = z.infer<typeof toTransport>
export type WaiterWord = z.infer<typeof toWaiter>

const wordSchema = z.union([
  z.object({ owner: toOwner }),
  z.object({ transport: toTransport }),
  z.object({ waiter: toWaiter }),
])
type Word = z.infer<typeof wordSchema>

export interface CallLine {
  /** The process itself. */
  readonly self: string
  /** False where it is known to be lost. */
  toOwner(member: string, word: OwnerWord): boolean
  toTransport(member: string, word: TransportWord): boolean
  toWaiter(member: string, word: WaiterWord): boolean
  /** One listener each. */
  onOwner(listener: (word: OwnerWord) => void): void
  onTransport(listener: (word: TransportWord) => void): void
  onWaiter(listener: (word: WaiterWord) => void): void
  close(): void
}

export interface CallLineOptions {
  readonly self: string
  readonly clock: Clock
  /** Absent where the process is alone. */
  readonly cluster?: { readonly bus: ClusterBus; readonly prefix: string } | undefined
}

const MEMBER = /^[\w-]+$/

export function createCallLine(options: CallLineOptions): CallLine {
  return new BusCallLine(options)
}

class BusCallLine implements CallLine {
  readonly self: string
  private readonly options: CallLineOptions
  private readonly unsubscribe: (() => void) | undefined
  private owner: ((word: OwnerWord) => void) | undefined
  private transport: ((word: TransportWord) => void) | undefined
  private waiter: ((word: WaiterWord) => void) | undefined

  constructor(options: CallLineOptions) {
    this.options = options
    this.self = options.self
    this.unsubscribe = options.cluster?.bus.subscribe(this.subjectOf(this.self), (body) =>
      // Throws what cannot be read to the bus, which reports it.
      this.hear(wordSchema.parse(JSON.parse(body))),
    )
  }

  toOwner(member: string, owner: OwnerWord): boolean {
    return this.say(member, { owner })
  }

  toTransport(member: string, transport: TransportWord): boolean {
    return this.say(member, { transport })
  }

  toWaiter(member: string, waiter: WaiterWord): boolean {
    return this.say(member, { waiter })
  }

  onOwner(listener: (word: OwnerWord) => void): void {
    this.owner = listener
  }

  onTransport(listener: (word: TransportWord) => void): void {
    this.transport = listener
  }

  onWaiter(listener: (word: WaiterWord) => void): void {
    this.waiter = listener
  }

  close(): void {
    this.unsubscribe?.()
  }

  private say(member: string, word: Word): boolean {
    const { clock, cluster } = this.options
    if (member === this.self) {
      clock.soon(() => this.hear(word))
      return true
    }
    // Scripts write the names of members: one that is none would be a subject of somebody else's.
    if (!MEMBER.test(member)) return false
    return cluster?.bus.publish(this.subjectOf(member), JSON.stringify(word)) ?? false
  }

  private hear(word: Word): void {
    if ('owner' in word) this.owner?.(word.owner)
    else if ('transport' in word) this.transport?.(word.transport)
    else this.waiter?.(word.waiter)
  }

  private subjectOf(member: string): string {
    return `${this.options.cluster?.prefix ?? ''}.calls.${member}`
  }
}
