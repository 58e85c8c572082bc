/**
 * The ledger of a fault test: every value is sent once and ends as acknowledged, refused, or unknown (the connection died
 * first). The final read is held against it: an acknowledged value must be there once; an unknown one at most once.
 */

export interface DeviceLedger {
  readonly name: string
  readonly token: string
  readonly deviceId: string
  /** The next value; values are 1, 2, 3 … in the order of sending. */
  next: number
  readonly acknowledged: Set<number>
  readonly sent: Set<number>
}

/** A point as read back: `ts` of the store, `value` of the ledger. */
export interface ReadPoint {
  readonly ts: number
  readonly value: number
}

export interface LedgerReport {
  readonly sent: number
  readonly acknowledged: number
  readonly found: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  /** Found though never sent: corruption. */
  readonly foreign: number
  /** The first few findings, for the failure message. */
  readonly findings: readonly string[]
}

export function openLedger(name: string, token: string, deviceId: string): DeviceLedger {
  return { name, token, deviceId, next: 1, acknowledged: new Set(), sent: new Set() }
}

/** Takes the next value to send. */
export function take(ledger: DeviceLedger): number {
  const value = ledger.next++
  ledger.sent.add(value)
  return value
}

/** Holds the points of each device, in the order of their times, against its ledger. */
export function compare(
  devices: readonly { readonly ledger: DeviceLedger; readonly points: readonly ReadPoint[] }[],
): LedgerReport {
  const total = { sent: 0, acknowledged: 0, found: 0, lost: 0, duplicated: 0, outOfOrder: 0, foreign: 0 }
  const findings: string[] = []
  const note = (text: string): void => {
    if (findings.length < 10) findings.push(text)
  }
  for (const { ledger, points } of devices) {
    const found = new Set<number>()
    let previous = 0
    for (const { ts, value } of points) {
      if (!ledger.sent.has(value)) {
        total.foreign++
        note(`${ledger.name}: value ${value} at ${ts} was never sent`)
      } else if (found.has(value)) {
        total.duplicated++
        note(`${ledger.name}: value ${value} is there twice, again at ${ts}`)
      } else if (value < previous) {
        total.outOfOrder++
        note(`${ledger.name}: value ${value} at ${ts} comes after ${previous}`)
      }
      found.add(value)
      previous = Math.max(previous, value)
    }
    for (const value of ledger.acknowledged) {
      if (found.has(value)) continue
      total.lost++
      note(`${ledger.name}: value ${value} was acknowledged and is not there`)
    }
    total.sent += ledger.sent.size
    total.acknowledged += ledger.acknowledged.size
    total.found += found.size
  }
  return { ...total, findings }
}
