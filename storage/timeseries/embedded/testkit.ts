/** What the tests of this store share: a clock they set, and a core in a fresh directory whose bounds they choose. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Clock } from '../../../model/clock.ts'
import { systemClock } from '../../../model/system-clock.ts'
import type { PointsWrite } from '../store.ts'
import { encodeBatch } from './batch-codec.ts'
import { ByteWriter } from './bytes.ts'
import { Core, type CoreOptions } from './core.ts'
import { encodeOperation, OPERATION } from './operation.ts'

export function freshDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-timeseries-'))
  t.after(() => {
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

export function coreOptions(directory: string, change: Partial<CoreOptions> = {}): CoreOptions {
  return {
    directory,
    durability: 'process-death',
    logSoftBytes: 2 ** 20,
    logHardBytes: 2 ** 21,
    segmentBytes: 2 ** 18,
    maxTailPoints: 100_000,
    maxEntities: 1000,
    ...change,
  }
}

export function openCore(t: TestContext, options: CoreOptions, now = 0): Core {
  const core = new Core(options, now)
  t.after(() => {
    core.close()
  })
  return core
}

/** The bytes that a `write` of the store sends to its core. */
export function writeOperation(writes: readonly PointsWrite[], now = 0): Uint8Array {
  const writer = new ByteWriter()
  encodeBatch(writer, writes, now)
  return encodeOperation({ kind: OPERATION.WRITE, batches: writer.view() })
}

/** The store's clock in tests that run in real time. */
export const killClock: Clock = systemClock

export const KILL_DEVICES: readonly string[] = Array.from({ length: 20 }, (_, index) => `device-${index}`)

/** Small, so that a kill may hit a roll, a move into chunks and a checkpoint as well as a write. */
export const KILL_BOUNDS = { logSoftBytes: 60_000, logHardBytes: 120_000, segmentBytes: 20_000 }
