/** What the tests of sources hand them: an inlet whose room and receipts the test has in its hands. */
import type { SecureContext } from 'node:tls'
import { ManualClock } from '../../model/manual-clock.ts'
import type { Clock } from '../../model/clock.ts'
import type { JsonValue } from '../../model/json.ts'
import { AddressGuard } from '../outbound/address-guard.ts'
import { SourceShares, type SourceShareSettings } from './source-shares.ts'
import type { Frame, FrameReceipt, Inlet, Positions, SourceParts } from './define-integration.ts'

export class TestInlet implements Inlet {
  readonly maxFrameBytes: number
  /** Taken and told nothing yet. */
  readonly waiting: { readonly frame: Frame; readonly receipt: FrameReceipt }[] = []
  readonly texts: string[] = []
  readonly skippedBytes: number[] = []
  readonly lostBytes: number[] = []
  /** Frames that may wait. */
  room = Infinity
  /** Whether each is stored at once. */
  isStoring = true
  listeners: (() => void)[] = []

  constructor(maxFrameBytes = 1024) {
    this.maxFrameBytes = maxFrameBytes
  }

  take(frame: Frame, receipt: FrameReceipt): boolean {
    if (this.waiting.length >= this.room) return false
    this.texts.push(frame.payload.toString())
    if (this.isStoring) receipt.done(undefined)
    else this.waiting.push({ frame, receipt })
    return true
  }

  skipped(bytes: number): void {
    this.skippedBytes.push(bytes)
  }

  lost(bytes: number): void {
    this.lostBytes.push(bytes)
  }

  onRoom(listener: () => void): void {
    this.listeners.push(listener)
  }

  /** All that waits is stored; those who waited for room hear it. */
  store(count = this.waiting.length): void {
    for (const { receipt } of this.waiting.splice(0, count)) receipt.done(undefined)
    const { listeners } = this
    this.listeners = []
    for (const listener of listeners) listener()
  }
}

export class TestPositions implements Positions {
  readonly kept = new Map<string, JsonValue>()

  read(name: string): Promise<JsonValue | undefined> {
    return Promise.resolve(this.kept.get(name))
  }

  write(name: string, value: JsonValue): Promise<void> {
    this.kept.set(name, value)
    return Promise.resolve()
  }
}

/** `states` takes what the source said of its connection. */
export function sourceParts<Configuration>(
  configuration: Configuration,
  clock: Clock = new ManualClock(),
  limits: Partial<SourceShareSettings> = {},
  secureContext?: () => SecureContext,
) {
  const inlet = new TestInlet()
  const positions = new TestPositions()
  const states: string[] = []
  const shares = new SourceShares({
    tenantPorts: 5,
    maxConnections: 100,
    maxBytes: 1 << 20,
    maxFetchedBytes: 64 << 20,
    ...limits,
  })
  const parts: SourceParts<Configuration> = {
    root: undefined,
    secureContext,
    progress: () => undefined,
    ...{
      configuration,
      id: 'i',
      tenantId: 't',
      shares,
      inlet,
      positions,
      clock,
      guard: new AddressGuard(['127.0.0.0/8']),
    },
    connected: (isConnected, reason) => void states.push(isConnected ? 'connected' : (reason?.message ?? 'away')),
  }
  return { parts, inlet, positions, states, shares }
}
