/** What is measured of each store. The rows of one batch share their time: one value of each of many devices, the worst case. */
export interface Batch {
  readonly devices: readonly string[]
  readonly ts: number
  readonly values: readonly number[]
}

export interface Candidate {
  readonly name: string
  /** What a resolved write survives. */
  readonly survives: string
  /** Writes that are given without waiting for the first. */
  readonly inFlight: number
  open(directory: string): Promise<OpenCandidate>
}

export interface OpenCandidate {
  /** Resolves when the batch is durable at the candidate's level. */
  write(batch: Batch): Promise<void>
  /** Undefined where the candidate cannot be read. */
  readonly reads: CandidateReads | undefined
  /** Bytes on disk once everything is in its final place. */
  settledBytes(): Promise<number>
  close(): Promise<void>
}

export interface CandidateReads {
  /** The newest points of a device: how many there were. */
  newest(device: string, limit: number): Promise<number>
  /** The average of a device's points in buckets of equal width: how many buckets there were. */
  averages(device: string, from: number, to: number, buckets: number): Promise<number>
}

export const KEY = 'temperature'

/** A thermometer with two decimals and noise in the last two digits; the same in every run. */
export function temperature(device: number, number: number): number {
  return Math.round((20 + 5 * Math.sin((number + device) / 60) + noise(device, number)) * 100) / 100
}

export function makeBatch(devices: readonly string[], number: number): Batch {
  const ts = 1_700_000_000_000 + number * 10_000
  return { devices, ts, values: devices.map((_, index) => temperature(index, number)) }
}

/** Uniform in [0, 1), without a period that a compressor could find. */
function noise(device: number, number: number): number {
  let state = Math.imul(device + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39)
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32
}

export function deviceNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`)
}
