/**
 * The calls of devices at the owner of their partition: what waits for a device, which sessions listen, and what becomes of it. Calls that
 * are not persistent live here alone: where the owner dies, their callers time out. Persistent ones are in the store, which is read when a
 * device begins to listen.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { PartitionOwners } from '../partition-owners.ts'
import {
  requestOf,
  waitsForNode,
  type CallOutcome,
  type CallStatus,
  type Delivery,
  type DeviceCall,
  type Listening,
} from './call.ts'
import type { CallLine, OwnerWord } from './line.ts'
import { MAX_PENDING, OwnedCallsOfDevice, remove, stopTimers, type Listener, type Pending } from './owned-device.ts'

/** Persistent calls, where they are kept. */
export interface CallStore {
  /** Stores it as QUEUED, once: a call that is there already changes nothing. */
  accept(call: DeviceCall): Promise<boolean>
  /** `response` is JSON text. Resolves for a call that is gone. */
  changed(call: DeviceCall, status: CallStatus, response?: string): Promise<void>
  /** Those of a device that wait to be sent, the oldest first, at most `limit`. */
  waiting(deviceId: string, limit: number): Promise<readonly DeviceCall[]>
}

export interface OwnedCallsOptions {
  readonly line: CallLine
  readonly owners: PartitionOwners
  readonly store: CallStore
  readonly clock: Clock
  readonly report: (text: string, fields: Readonly<Record<string, unknown>>) => void
}

/** Ids of calls that are remembered, the newest ones. */
const MAX_TAKEN = 100_000
/** Sessions say every ten seconds that they listen. */
const LISTENING_MS = 30_000
const SWEEP_MS = 10_000
/** A device that nobody calls keeps its count of calls for so long. */
const FORGET_MS = 600_000
/** What a transport may take to hear that the device has it. */
const DELIVERY_TIMEOUT_MS = 10_000
const MAX_RETRIES = 5
/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1

export class OwnedCalls {
  private readonly options: OwnedCallsOptions
  private readonly devices = new Map<string, OwnedCallsOfDevice>()
  /** Ids of calls that are not kept, in the order in which they came. */
  private readonly taken = new Set<string>()
  private readonly stopListening: () => void
  private sweeper: TimerHandle
  private isClosed = false

  constructor(options: OwnedCallsOptions) {
    this.options = options
    options.line.onOwner((word) => this.hear(word))
    this.stopListening = options.owners.onChange(() => this.ownersChanged())
    this.sweeper = options.clock.after(SWEEP_MS, () => this.sweep())
  }

  close(): void {
    this.isClosed = true
    this.stopListening()
    this.sweeper.cancel()
    for (const device of this.devices.values()) for (const pending of device.pending.values()) stopTimers(pending)
    this.devices.clear()
  }

  private hear(word: OwnerWord): void {
    if (this.isClosed) return
    switch (word.kind) {
      case 'call':
        return this.accept(word.call)
      case 'listening':
        for (const session of word.sessions) this.listens(word.from, session)
        return
      case 'deaf':
        this.devices.get(word.deviceId)?.listeners.delete(keyOf(word.from, word.session))
        return
      case 'delivery':
        return this.delivered(word.deviceId, word.id, word.delivery)
      case 'response':
        return this.responded(word.deviceId, word.id, word.body)
      case 'withdrawn': {
        const device = this.devices.get(word.deviceId)
        for (const pending of device?.pending.values() ?? []) {
          if (pending.call.id === word.callId) remove(device, pending)
        }
        if (device !== undefined) this.storeEnd(device, word.callId)
        return
      }
      case 'moved': {
        const device = this.devices.get(word.deviceId)
        for (const pending of device?.pending.values() ?? []) {
          if (pending.call.tenantId !== word.formerTenantId) continue
          remove(device, pending)
          if (!pending.call.isPersistent) this.answer(pending.call, { error: 'NO_ACTIVE_CONNECTION' })
        }
        if (device !== undefined) this.storeEnd(device, word.formerTenantId)
      }
    }
  }

  private accept(call: DeviceCall): void {
    const device = this.deviceOf(call.deviceId)
    if (device.has(call.id)) return
    if (!call.isPersistent) {
      if (call.expirationTime <= this.options.clock.now() || !this.isNew(call)) return
      if (device.pending.size >= MAX_PENDING) return this.answer(call, { error: 'NO_ACTIVE_CONNECTION' })
      return this.queue(device, call)
    }
    this.store(device, async () => {
      const waits = await this.options.store.accept(call)
      this.answer(call, { isKept: true })
      if (!waits) return
      if (call.expirationTime <= this.options.clock.now()) await this.options.store.changed(call, 'EXPIRED')
      else if (this.isClosed) return
      else if (this.devices.get(call.deviceId) !== device) this.passOn(call)
      else if (device.lacks(call)) this.queue(device, call)
    })
  }

  /** Its device went to another owner while it was stored. That one asks the store too: meanwhile the call may be over, or be there already. */
  private passOn(call: DeviceCall): void {
    const { owners, line } = this.options
    const owner = owners.ownerOf(owners.partitionOf(call.deviceId))
    // Where nobody is known, whoever is the next one reads it when the device listens.
    if (owner !== undefined) line.toOwner(owner, { kind: 'call', call })
  }

  /** A message that is delivered again must not make the device do it again. */
  private isNew({ id }: DeviceCall): boolean {
    if (this.taken.has(id)) return false
    this.taken.add(id)
    const [oldest] = this.taken
    if (this.taken.size > MAX_TAKEN && oldest !== undefined) this.taken.delete(oldest)
    return true
  }

  private queue(device: OwnedCallsOfDevice, call: DeviceCall): void {
    const { clock } = this.options
    const pending: Pending = {
      id: device.nextId++,
      call,
      sentTo: new Set(),
      isDelivered: false,
      failures: 0,
      expiry: clock.after(Math.min(MAX_TIMER_MS, call.expirationTime - clock.now()), () =>
        this.expired(device, pending),
      ),
      delivery: undefined,
    }
    device.pending.set(pending.id, pending)
    for (const listener of [...device.listeners.values()]) {
      if (!device.pending.has(pending.id)) return
      if (this.send(device, pending, listener) && listener.take === 'next') return
    }
  }

  private listens(member: string, { deviceId, session, take }: { deviceId: string; session: number; take: Listening }) {
    const { clock, owners } = this.options
    if (!owners.owns(owners.partitionOf(deviceId))) return
    const device = this.deviceOf(deviceId)
    const key = keyOf(member, session)
    const until = clock.now() + LISTENING_MS
    const known = device.listeners.get(key)
    if (known !== undefined) {
      known.until = until
      return
    }
    const listener: Listener = { member, session, take, until }
    device.listeners.set(key, listener)
    this.sendPending(device, listener)
    this.look(device)
  }

  /** However often a device says that it listens, one look waits behind the one that is under way. */
  private look(device: OwnedCallsOfDevice): void {
    const { deviceId } = device
    const { clock } = this.options
    if (device.isLookDue) return
    device.isLookDue = true
    this.store(device, async () => {
      device.isLookDue = false
      const waiting = await this.options.store.waiting(deviceId, MAX_PENDING)
      for (const call of waiting) {
        // Its owner reads them now.
        if (this.devices.get(deviceId) !== device) return
        if (!device.lacks(call)) continue
        if (call.expirationTime <= clock.now()) await this.options.store.changed(call, 'EXPIRED')
        else this.queue(device, call)
      }
    })
  }

  private sendPending(device: OwnedCallsOfDevice, listener: Listener): void {
    for (const pending of [...device.pending.values()]) {
      if (pending.isDelivered) continue
      if (this.send(device, pending, listener) && listener.take === 'next') return
    }
  }

  /** False where the session is gone or cannot be told. */
  private send(device: OwnedCallsOfDevice, pending: Pending, listener: Listener): boolean {
    const { line } = this.options
    const key = keyOf(listener.member, listener.session)
    const { call, id } = pending
    const { deviceId } = device
    const word = { kind: 'request', deviceId, session: listener.session, request: requestOf(id, call) } as const
    if (pending.sentTo.has(key) || !line.toTransport(listener.member, word)) return false
    if (listener.take === 'next') device.listeners.delete(key)
    pending.sentTo.add(key)
    if (call.isOneway && !call.isPersistent) {
      remove(device, pending)
      this.answer(call, {})
    }
    return true
  }

  private delivered(deviceId: string, id: number, delivery: Delivery): void {
    const device = this.devices.get(deviceId)
    const pending = device?.pending.get(id)
    if (device === undefined || pending === undefined || pending.isDelivered) return
    const { call } = pending
    pending.delivery?.cancel()
    if (delivery === 'SENT') {
      pending.delivery = this.options.clock.after(DELIVERY_TIMEOUT_MS, () => this.notDelivered(device, pending))
    } else {
      pending.isDelivered = true
    }
    const isOver = pending.isDelivered && call.isOneway
    if (isOver) remove(device, pending)
    if (!call.isPersistent) return
    const change = (): Promise<void> => this.options.store.changed(call, delivery)
    if (isOver) this.storeEnd(device, call.id, change)
    else this.store(device, change)
  }

  /** The device said nothing: it gets it once more when it listens anew. */
  private notDelivered(device: OwnedCallsOfDevice, pending: Pending): void {
    const { call } = pending
    pending.sentTo.clear()
    if (!call.isPersistent) return
    pending.failures++
    const { store } = this.options
    if (pending.failures <= Math.min(call.retries ?? MAX_RETRIES, MAX_RETRIES)) {
      this.store(device, () => store.changed(call, 'TIMEOUT'))
      return
    }
    remove(device, pending)
    const response = JSON.stringify({ error: 'There was a Timeout and all retry attempts have been exhausted.' })
    this.storeEnd(device, call.id, () => store.changed(call, 'FAILED', response))
  }

  private responded(deviceId: string, id: number, body: string): void {
    const device = this.devices.get(deviceId)
    const pending = device?.pending.get(id)
    if (device === undefined || pending === undefined) return
    const { call } = pending
    remove(device, pending)
    if (!call.isPersistent) return this.answer(call, { response: body })
    this.storeEnd(device, call.id, () => this.options.store.changed(call, 'SUCCESSFUL', jsonOf(body)))
  }

  private expired(device: OwnedCallsOfDevice, pending: Pending): void {
    const { call } = pending
    const { clock, store } = this.options
    const left = call.expirationTime - clock.now()
    if (left > 0) {
      pending.expiry = clock.after(Math.min(MAX_TIMER_MS, left), () => this.expired(device, pending))
      return
    }
    const wasSent = pending.sentTo.size > 0
    remove(device, pending)
    if (call.isPersistent) this.storeEnd(device, call.id, () => store.changed(call, 'EXPIRED'))
    else this.answer(call, { error: wasSent ? 'TIMEOUT' : 'NO_ACTIVE_CONNECTION' })
  }

  private answer(call: DeviceCall, outcome: CallOutcome): void {
    const { line } = this.options
    const body = JSON.stringify(outcome)
    line.toWaiter(call.origin, { kind: 'answer', id: call.id, body })
    if (call.node !== undefined) line.toWaiter(call.node, { kind: 'answer', id: waitsForNode(call.id), body })
  }

  private store(device: OwnedCallsOfDevice, change: () => Promise<void>): void {
    device.stored = device.stored.then(change).catch((error: unknown) => {
      // The store is read again when the device listens anew.
      const { deviceId } = device
      this.options.report('What became of a persistent call is not stored', { deviceId, reason: errorText(error) })
    })
  }

  /** Of a call that is over here, or a tenant that the device left: nobody sends what was read before the store knows. */
  private storeEnd(device: OwnedCallsOfDevice, id: string, change?: () => Promise<void>): void {
    device.leaving.add(id)
    this.store(device, async () => {
      try {
        await change?.()
      } finally {
        device.leaving.delete(id)
      }
    })
  }

  private deviceOf(deviceId: string): OwnedCallsOfDevice {
    let device = this.devices.get(deviceId)
    if (device === undefined) {
      device = new OwnedCallsOfDevice(deviceId)
      this.devices.set(deviceId, device)
    }
    device.usedAt = this.options.clock.now()
    return device
  }

  private sweep(): void {
    const now = this.options.clock.now()
    for (const device of this.devices.values()) {
      for (const [key, { until }] of device.listeners) if (until < now) device.listeners.delete(key)
      const isIdle = device.listeners.size === 0 && device.pending.size === 0
      if (isIdle && device.usedAt + FORGET_MS < now) this.devices.delete(device.deviceId)
    }
    this.sweeper = this.options.clock.after(SWEEP_MS, () => this.sweep())
  }

  /** What was not sent goes along to the new owner. What was sent is answered by nobody: its caller stops waiting. */
  private ownersChanged(): void {
    const { owners, line } = this.options
    for (const device of [...this.devices.values()]) {
      const partition = owners.partitionOf(device.deviceId)
      const owner = owners.ownerOf(partition)
      if (owners.owns(partition) || owner === undefined) continue
      this.devices.delete(device.deviceId)
      for (const pending of device.pending.values()) {
        stopTimers(pending)
        const isNew = pending.sentTo.size === 0 && !pending.call.isPersistent
        if (isNew) line.toOwner(owner, { kind: 'call', call: pending.call })
      }
    }
  }
}

function keyOf(member: string, session: number): string {
  return `${member} ${session}`
}

/** What a persistent call keeps of a response that is no JSON. */
function jsonOf(body: string): string {
  try {
    JSON.parse(body)
    return body
  } catch {
    // The device's own text is kept.
    return JSON.stringify({ error: body })
  }
}
