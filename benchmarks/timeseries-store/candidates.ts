/** The stores that are compared, and the physical limit beside them. */
import { closeSync, fdatasyncSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../model/clock.ts'
import { systemClock } from '../../model/system-clock.ts'
import { encodeBatch } from '../../storage/timeseries/embedded/batch-codec.ts'
import { ByteWriter } from '../../storage/timeseries/embedded/bytes.ts'
import { openEmbeddedTimeSeries } from '../../storage/timeseries/embedded/store.ts'
import type { PointsWrite } from '../../storage/timeseries/store.ts'
import { KEY, type Batch, type Candidate } from './candidate.ts'

export const realClock: Clock = systemClock

export function writesOf({ devices, ts, values }: Batch): PointsWrite[] {
  return devices.map((entityId, index) => ({
    entityId,
    points: [{ key: KEY, ts, type: 'DOUBLE', value: values[index] ?? 0 }],
    sequence: 0,
    ttlSeconds: 0,
    history: true,
    latest: true,
  }))
}

export function bucketBorders(from: number, to: number, buckets: number): number[] {
  return Array.from({ length: buckets + 1 }, (_, index) => Math.floor(from + ((to - from) * index) / buckets))
}

export function bytesUnder(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

/** This project's store. */
export function embedded(durability: 'power-cut' | 'process-death', inFlight: number): Candidate {
  return {
    name: `embedded store, ${inFlight} in flight`,
    survives: durability,
    inFlight,
    async open(directory) {
      const store = await openEmbeddedTimeSeries({ directory, durability, clock: realClock })
      const query = { keys: [KEY], startTs: 0, endTs: 1e15, limit: 100, order: 'DESC' } as const
      return {
        async write(batch) {
          await store.write(writesOf(batch))
        },
        reads: {
          async newest(device, limit) {
            const { value } = await store.history(device, { ...query, agg: 'NONE', limit })
            return value.get(KEY)?.length ?? 0
          },
          async averages(device, from, to, buckets) {
            const borders = bucketBorders(from, to, buckets)
            const { value } = await store.history(device, { ...query, startTs: from, endTs: to, agg: 'AVG', borders })
            return value.get(KEY)?.length ?? 0
          },
        },
        async settledBytes() {
          await store.pack()
          return bytesUnder(directory)
        },
        close: () => store.close(),
      }
    },
  }
}

/** The obvious table, clustered on (entity, key, ts), one transaction a batch, on the caller's thread. */
export const naiveTable: Candidate = {
  name: 'SQLite table clustered on (entity, key, ts)',
  survives: 'power-cut',
  inFlight: 1,
  open(directory) {
    const database = new DatabaseSync(join(directory, 'naive.sqlite'))
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE point (entity INTEGER, key INTEGER, ts INTEGER, value REAL, PRIMARY KEY (entity, key, ts)) WITHOUT ROWID`)
    const insert = database.prepare('INSERT OR REPLACE INTO point VALUES (?, 1, ?, ?)')
    const newest = database.prepare('SELECT ts, value FROM point WHERE entity = ? AND key = 1 ORDER BY ts DESC LIMIT ?')
    const averages = database.prepare(
      'SELECT CAST((ts - ?) / ? AS INTEGER) AS bucket, avg(value) AS value FROM point WHERE entity = ? AND key = 1 AND ts >= ? AND ts < ? GROUP BY bucket',
    )
    const numbers = new Map<string, number>()
    const numberOf = (device: string) => {
      const number = numbers.get(device) ?? numbers.size + 1
      numbers.set(device, number)
      return number
    }
    return Promise.resolve({
      write({ devices, ts, values }) {
        database.exec('BEGIN')
        for (const [index, device] of devices.entries()) insert.run(numberOf(device), ts, values[index] ?? 0)
        database.exec('COMMIT')
        return Promise.resolve()
      },
      reads: {
        newest: (device, limit) => Promise.resolve(newest.all(numberOf(device), limit).length),
        averages(device, from, to, buckets) {
          const width = Math.ceil((to - from) / buckets)
          return Promise.resolve(averages.all(from, width, numberOf(device), from, to).length)
        },
      },
      settledBytes() {
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
        return Promise.resolve(bytesUnder(directory))
      },
      close() {
        database.close()
        return Promise.resolve()
      },
    })
  },
}

/** The limit: the bytes of each batch appended to one file and synced, nothing else. */
export const rawLog: Candidate = {
  name: 'limit: append and fdatasync of the same bytes',
  survives: 'power-cut',
  inFlight: 1,
  open(directory) {
    const path = join(directory, 'raw.log')
    const file = openSync(path, 'w')
    const writer = new ByteWriter(1 << 16)
    return Promise.resolve({
      write(batch) {
        writer.reset()
        encodeBatch(writer, writesOf(batch), batch.ts)
        writeSync(file, writer.view())
        fdatasyncSync(file)
        return Promise.resolve()
      },
      reads: undefined,
      settledBytes: () => Promise.resolve(statSync(path).size),
      close() {
        closeSync(file)
        return Promise.resolve()
      },
    })
  },
}
