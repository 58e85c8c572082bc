/** A store of very many points: how long an open takes, also after `kill -9` with a full log, and what reads take then. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DataPoint } from '../../model/value.ts'
import { openEmbeddedTimeSeries, type EmbeddedTimeSeries } from '../../storage/timeseries/embedded/store.ts'
import { deviceNames, KEY, makeBatch, temperature } from './candidate.ts'
import { bucketBorders, bytesUnder, realClock, writesOf } from './candidates.ts'
import { rounded, timeReads, type Percentiles } from './measure.ts'

export interface LargeResult {
  readonly points: number
  readonly buildPointsPerSecond: number
  readonly bytesPerPoint: number
  /** Milliseconds. */
  readonly openClean: number
  readonly openAfterKillWithFullLog: number
  readonly logBytesAtKill: number
  readonly newest100: Percentiles
  readonly averageOfMillion1Bucket: Percentiles
  readonly averageOfMillion100Buckets: Percentiles
  readonly averageOfMillion700Buckets: Percentiles
}

const PER_DEVICE = 1_000_000
const STEP = 10_000
const START = 1_600_000_000_000
const AT_ONCE = 10_000
const OPTIONS = { durability: 'power-cut', clock: realClock } as const

export async function measureLarge(points: number): Promise<LargeResult> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-benchmark-'))
  try {
    const devices = deviceNames(Math.ceil(points / PER_DEVICE))
    const buildPointsPerSecond = rounded(await build(directory, devices))
    const bytesPerPoint = rounded(bytesUnder(directory) / (devices.length * PER_DEVICE))
    const [clean, openClean] = await timedOpen(directory)
    await clean.close()
    const killed = spawnSync(process.execPath, ['--no-warnings', fileURLToPath(import.meta.url), directory], {
      encoding: 'utf8',
    })
    if (killed.signal !== 'SIGKILL') throw new Error(`void: the writer ended by itself: ${killed.stderr}`)
    const [store, openAfterKillWithFullLog] = await timedOpen(directory)
    const result = {
      points: devices.length * PER_DEVICE,
      buildPointsPerSecond,
      bytesPerPoint,
      openClean,
      openAfterKillWithFullLog,
      logBytesAtKill: Number(killed.stdout),
      ...(await measureReads(store, devices)),
    }
    await store.close()
    return result
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** History of one device after the other, as a migration would bring it. Points a second. */
async function build(directory: string, devices: readonly string[]): Promise<number> {
  const store = await openEmbeddedTimeSeries({ ...OPTIONS, directory })
  const begin = performance.now()
  for (let from = 0; from < PER_DEVICE; from += AT_ONCE) {
    let inFlight: Promise<unknown>[] = []
    for (const [device, entityId] of devices.entries()) {
      const points = Array.from({ length: AT_ONCE }, (_, index): DataPoint => {
        const number = from + index
        return { key: KEY, ts: START + number * STEP, type: 'DOUBLE', value: temperature(device, number) }
      })
      inFlight.push(store.write([{ entityId, points, sequence: 0, ttlSeconds: 0, history: true, latest: true }]))
      if (inFlight.length < 4) continue
      await Promise.all(inFlight)
      inFlight = []
    }
    await Promise.all(inFlight)
  }
  await store.pack()
  await store.close()
  return (devices.length * PER_DEVICE) / ((performance.now() - begin) / 1000)
}

async function timedOpen(directory: string): Promise<[EmbeddedTimeSeries, number]> {
  const start = performance.now()
  const store = await openEmbeddedTimeSeries({ ...OPTIONS, directory })
  await store.keys('none')
  return [store, rounded(performance.now() - start)]
}

async function measureReads(store: EmbeddedTimeSeries, devices: readonly string[]) {
  const end = START + PER_DEVICE * STEP
  const query = { keys: [KEY], startTs: START, endTs: end, limit: 100, order: 'DESC' } as const
  const deviceAt = (index: number) => devices[(index * 37) % devices.length] ?? ''
  const average = (buckets: number) =>
    timeReads(
      async (index) => {
        const borders = bucketBorders(START, end, buckets)
        const { value } = await store.history(deviceAt(index), { ...query, agg: 'AVG', borders })
        return value.get(KEY)?.length ?? 0
      },
      buckets,
      20,
    )
  const newest = async (index: number) =>
    (await store.history(deviceAt(index), { ...query, agg: 'NONE' })).value.get(KEY)?.length ?? 0
  return {
    newest100: await timeReads(newest, 100),
    averageOfMillion1Bucket: await average(1),
    averageOfMillion100Buckets: await average(100),
    averageOfMillion700Buckets: await average(700),
  }
}

/** The process that dies: fills the log with points of many devices, says how full it is, and kills itself. */
async function fillAndDie(directory: string): Promise<never> {
  const store = await openEmbeddedTimeSeries({ ...OPTIONS, directory })
  const devices = deviceNames(1000).map((name) => name.replace('1000', '2000'))
  const full = 16 * 2 ** 20
  for (let number = 0; store.figures().logBytes < full; number++)
    await store.write(writesOf(makeBatch(devices, number)))
  process.stdout.write(String(store.figures().logBytes), () => process.kill(process.pid, 'SIGKILL'))
  return new Promise<never>(() => undefined)
}

const [, entry, directory] = process.argv
if (entry === fileURLToPath(import.meta.url) && directory !== undefined) await fillAndDie(directory)
