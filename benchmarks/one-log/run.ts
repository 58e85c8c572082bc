/**
 * What would one physical log for frames and for what the embedded time-series store commits gain? A prototype of the hand-overs and
 * syncs alone: 100 closed loops, each message a frame entry and then a batch of the store, both durable before it counts.
 *
 *   node benchmarks/one-log/run.ts [--seconds 1] [--runs 9]
 *
 * - two logs: as today. The main thread writes a frame with O_DSYNC through libuv; a thread appends and syncs the store's group.
 * - one log, thread: a thread appends frames and store batches that piled up as one group with one sync, and does nothing else.
 * - one log, libuv: the same group, written by the main thread through libuv.
 * In both of the latter the store's thread gets its batches without a sync, and nobody waits for it.
 */
import { once } from 'node:events'
import fs from 'node:fs'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { BENCHMARKS, spread, writeResult } from '../lib/report.ts'

const FRAME_BYTES = 260
const BATCH_BYTES = 110
const FILE_BYTES = 256 << 20
const DEVICES = 100
/** Steps of some 16 ns: what the rest of the road costs on the main thread, some 12 µs, and what the store's thread does with a batch. */
const MAIN_STEPS = 760
const INDEX_STEPS = 130

interface ThreadStart {
  readonly path: string | undefined
}

interface Group {
  readonly messages: number
  readonly data: Uint8Array
}

/** The same work whatever else the machine does: a clock would count the time of others. */
function spin(steps: number): void {
  let value = 1
  for (let step = 0; step < steps; step++) value = (value * 48_271) % 2_147_483_647
  if (value === 0) throw new Error('never')
}

/** A file of zeros, so that a sync has no length to make durable. */
function zeroed(path: string): number {
  const file = fs.openSync(path, fs.constants.O_CREAT | fs.constants.O_RDWR)
  const zeros = Buffer.alloc(4 << 20)
  for (let at = 0; at < FILE_BYTES; at += zeros.length) fs.writeSync(file, zeros, 0, zeros.length, at)
  fs.fsyncSync(file)
  fs.closeSync(file)
  return fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_DSYNC)
}

if (!isMainThread) serve(workerData as ThreadStart)

/** With a path it appends and answers; without one it takes batches and says nothing. */
function serve({ path }: ThreadStart): void {
  const file = path === undefined ? undefined : zeroed(path)
  let at = 0
  parentPort?.on('message', ({ messages, data }: Group) => {
    if (messages < 0) process.exit(0)
    if (file !== undefined) {
      if (at + data.length > FILE_BYTES) at = 0
      fs.writeSync(file, data, 0, data.length, at)
      at += data.length
      if (messages > 0) spin(messages * INDEX_STEPS)
      parentPort?.postMessage(0)
    } else spin(messages * INDEX_STEPS)
  })
  parentPort?.postMessage(0)
}

async function thread(path?: string): Promise<Worker> {
  const worker = new Worker(import.meta.filename, { workerData: { path } satisfies ThreadStart })
  await once(worker, 'message')
  return worker
}

/** Makes a group durable and calls back. `indexed` messages are also worked into the store by whoever writes. */
type Log = (bytes: number, indexed: number, done: () => void) => void

function libuvLog(path: string): Log {
  const file = zeroed(path)
  let at = 0
  return (bytes, _indexed, done) => {
    if (at + bytes > FILE_BYTES) at = 0
    fs.write(file, Buffer.allocUnsafe(bytes), 0, bytes, at, (error) => {
      if (error !== null) throw error
      done()
    })
    at += bytes
  }
}

function threadLog(worker: Worker): Log {
  let done: () => void = () => undefined
  worker.on('message', () => done())
  return (bytes, indexed, next) => {
    done = next
    const data = new Uint8Array(bytes)
    worker.postMessage({ messages: indexed, data } satisfies Group, [data.buffer])
  }
}

interface Outcome {
  readonly perSecond: number
  readonly processorMicroseconds: number
  readonly groups: number
}

/** One group in flight a log; what piles up is the next. `store` undefined: one log for both. */
async function load(frames: Log, store: Log | undefined, index: Worker | undefined, window: number, seconds: number) {
  let waitingFrames = DEVICES * window
  let waitingBatches = 0
  let stored = 0
  let groups = 0
  let framing = false
  let storing = false
  let stopped = false
  const sendFrames = (): void => {
    if (framing || stopped || (waitingFrames === 0 && (store !== undefined || waitingBatches === 0))) return
    const messages = waitingFrames
    const batches = store === undefined ? waitingBatches : 0
    waitingFrames = 0
    waitingBatches -= batches
    framing = true
    groups++
    frames(messages * FRAME_BYTES + batches * BATCH_BYTES, 0, () => {
      framing = false
      stored += batches
      if (batches > 0) index?.postMessage({ messages: batches, data: new Uint8Array(batches * BATCH_BYTES) })
      // The acknowledged messages run through the chains, and each device sends its next one.
      spin(messages * MAIN_STEPS)
      waitingBatches += messages
      waitingFrames += messages
      sendStore()
      sendFrames()
    })
  }
  const sendStore = (): void => {
    if (store === undefined || storing || stopped || waitingBatches === 0) return
    const batches = waitingBatches
    waitingBatches = 0
    storing = true
    groups++
    store(batches * BATCH_BYTES, batches, () => {
      storing = false
      stored += batches
      sendStore()
    })
  }
  const before = process.cpuUsage()
  const began = performance.now()
  sendFrames()
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const took = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(before)
  const outcome: Outcome = {
    perSecond: stored / took,
    processorMicroseconds: (user + system) / stored,
    groups: groups / took,
  }
  stopped = true
  while (framing || storing) await new Promise((resolve) => setImmediate(resolve))
  return outcome
}

const VARIANTS = {
  'two logs': async (folder: string, window: number, seconds: number) => {
    const worker = await thread(join(folder, 'store'))
    const outcome = await load(libuvLog(join(folder, 'frames')), threadLog(worker), undefined, window, seconds)
    await worker.terminate()
    return outcome
  },
  'one log, thread': async (folder: string, window: number, seconds: number) => {
    const [worker, index] = [await thread(join(folder, 'log')), await thread()]
    const outcome = await load(threadLog(worker), undefined, index, window, seconds)
    await Promise.all([worker.terminate(), index.terminate()])
    return outcome
  },
  'one log, libuv': async (folder: string, window: number, seconds: number) => {
    const index = await thread()
    const outcome = await load(libuvLog(join(folder, 'log')), undefined, index, window, seconds)
    await index.terminate()
    return outcome
  },
} as const

if (isMainThread) {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '1' }, runs: { type: 'string', default: '9' } },
  })
  const found = new Map<string, Outcome[]>()
  for (let run = 0; run < Number(values.runs); run++) {
    for (const window of [1, 10]) {
      for (const [name, measure] of Object.entries(VARIANTS)) {
        const folder = mkdtempSync(join(BENCHMARKS, '..', '.cache', 'one-log-'))
        try {
          const key = `${name}, ${window} in flight`
          found.set(key, [...(found.get(key) ?? []), await measure(folder, window, Number(values.seconds))])
        } finally {
          rmSync(folder, { recursive: true })
        }
      }
    }
  }
  const results = Object.fromEntries(
    [...found].map(([name, outcomes]) => [
      name,
      {
        messagesPerSecond: spread(outcomes.map((each) => Math.round(each.perSecond))),
        processorMicrosecondsPerMessage: spread(outcomes.map((each) => each.processorMicroseconds)),
        groupsPerSecond: spread(outcomes.map((each) => Math.round(each.groups))),
      },
    ]),
  )
  for (const [name, { messagesPerSecond, processorMicrosecondsPerMessage, groupsPerSecond }] of Object.entries(
    results,
  )) {
    process.stdout.write(
      `${name}: ${messagesPerSecond.median}/s (${messagesPerSecond.least} to ${messagesPerSecond.most}), ` +
        `${processorMicrosecondsPerMessage.median.toFixed(1)} µs, ${groupsPerSecond.median} groups/s\n`,
    )
  }
  const command = `node benchmarks/one-log/run.ts --seconds ${values.seconds} --runs ${values.runs}`
  writeResult('one-log', command, { devices: DEVICES, results })
}
