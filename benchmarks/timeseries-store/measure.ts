/** Timing of one candidate, and the statistics of several runs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deviceNames, makeBatch, type Candidate, type OpenCandidate } from './candidate.ts'

export interface Percentiles {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export interface RunResult {
  readonly pointsPerSecond: number
  /** Of all threads of the process while writing: says more than the rate on a busy machine. */
  readonly cpuMicrosecondsPerPoint: number
  /** Milliseconds. */
  readonly batch: Percentiles
  readonly newest100: Percentiles | undefined
  readonly averages: Percentiles | undefined
  readonly bytesPerPoint: number
}

const DEVICES = 1000
const READS = 200

export async function runOnce(candidate: Candidate, points: number): Promise<RunResult> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-benchmark-'))
  try {
    const store = await candidate.open(directory)
    const devices = deviceNames(DEVICES)
    const batches = Math.floor(points / DEVICES)
    const { seconds, times, cpuMicroseconds } = await ingest(candidate, store, devices, batches)
    const { reads } = store
    const from = makeBatch(devices, 0).ts
    const to = makeBatch(devices, batches).ts
    const deviceAt = (index: number) => devices[(index * 37) % DEVICES] ?? ''
    const newest100 = reads && (await timeReads((index) => reads.newest(deviceAt(index), 100), Math.min(100, batches)))
    const averages = reads && (await timeReads((index) => reads.averages(deviceAt(index), from, to, 24), 24))
    const bytes = await store.settledBytes()
    await store.close()
    return {
      pointsPerSecond: (batches * DEVICES) / seconds,
      cpuMicrosecondsPerPoint: cpuMicroseconds / (batches * DEVICES),
      batch: percentiles(times),
      newest100,
      averages,
      bytesPerPoint: bytes / (batches * DEVICES),
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function ingest(candidate: Candidate, store: OpenCandidate, devices: readonly string[], batches: number) {
  const times: number[] = []
  let next = 0
  const begin = performance.now()
  const cpu = process.cpuUsage()
  const writeSome = async () => {
    while (next < batches) {
      const batch = makeBatch(devices, next++)
      const start = performance.now()
      await store.write(batch)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: candidate.inFlight }, writeSome))
  const { user, system } = process.cpuUsage(cpu)
  return { seconds: (performance.now() - begin) / 1000, times, cpuMicroseconds: user + system }
}

/** Milliseconds of each read; throws where one finds another number than expected, for then the run is void. */
export async function timeReads(
  read: (index: number) => Promise<number>,
  expected: number,
  count = READS,
): Promise<Percentiles> {
  const times: number[] = []
  for (let index = 0; index < count; index++) {
    const start = performance.now()
    const found = await read(index)
    times.push(performance.now() - start)
    if (found !== expected) throw new Error(`void: read ${found} instead of ${expected}`)
  }
  return percentiles(times)
}

export function percentiles(times: readonly number[]): Percentiles {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN)
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? NaN
}

export function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
