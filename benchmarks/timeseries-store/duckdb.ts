/**
 * DuckDB by its appender, where it is at hand: it is no dependency of this project. `DUCKDB_MODULE` names the entry file of
 * an installed `@duckdb/node-api`.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bytesUnder } from './candidates.ts'
import type { Candidate } from './candidate.ts'

interface Appender {
  appendInteger(value: number): void
  appendBigInt(value: bigint): void
  appendDouble(value: number): void
  endRow(): void
  flushSync(): void
  closeSync(): void
}

interface Connection {
  run(sql: string): Promise<unknown>
  runAndReadAll(sql: string): Promise<{ getRows(): readonly unknown[] }>
  createAppender(table: string): Promise<Appender>
  closeSync(): void
}

interface DuckDbModule {
  readonly DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection>; closeSync(): void }> }
}

export async function duckDb(entry: string): Promise<Candidate> {
  const { DuckDBInstance } = (await import(pathToFileURL(entry).href)) as DuckDbModule
  return {
    name: 'DuckDB appender, one transaction a batch',
    survives: 'power-cut',
    inFlight: 1,
    async open(directory) {
      const instance = await DuckDBInstance.create(join(directory, 'points.duckdb'))
      const connection = await instance.connect()
      await connection.run('CREATE TABLE point (entity INTEGER, ts BIGINT, value DOUBLE)')
      const numbers = new Map<string, number>()
      const numberOf = (device: string) => {
        const number = numbers.get(device) ?? numbers.size + 1
        numbers.set(device, number)
        return number
      }
      return {
        async write({ devices, ts, values }) {
          await connection.run('BEGIN')
          const appender = await connection.createAppender('point')
          for (const [index, device] of devices.entries()) {
            appender.appendInteger(numberOf(device))
            appender.appendBigInt(BigInt(ts))
            appender.appendDouble(values[index] ?? 0)
            appender.endRow()
          }
          appender.closeSync()
          await connection.run('COMMIT')
        },
        reads: {
          async newest(device, limit) {
            const sql = `SELECT ts, value FROM point WHERE entity = ${numberOf(device)} ORDER BY ts DESC LIMIT ${limit}`
            return (await connection.runAndReadAll(sql)).getRows().length
          },
          async averages(device, from, to, buckets) {
            const width = Math.ceil((to - from) / buckets)
            const sql = `SELECT (ts - ${from}) // ${width} AS bucket, avg(value) FROM point
              WHERE entity = ${numberOf(device)} AND ts >= ${from} AND ts < ${to} GROUP BY bucket`
            return (await connection.runAndReadAll(sql)).getRows().length
          },
        },
        async settledBytes() {
          await connection.run('CHECKPOINT')
          return bytesUnder(directory)
        },
        close() {
          connection.closeSync()
          instance.closeSync()
          return Promise.resolve()
        },
      }
    },
  }
}
