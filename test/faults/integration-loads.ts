/** Who sends to integrations while the process is killed: one load for each kind, which says what was acknowledged at its source. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Admin, Producer, stringSerializers } from '@platformatic/kafka'
import { connectAsync } from 'mqtt'

/** What each sender needs to know. */
export interface LoadRun {
  /** The next number; undefined: enough. */
  next(): number | undefined
  /** The source heard that it was taken, or keeps it until it was. */
  acknowledged(n: number): void
  readonly signal: AbortSignal
}

export interface Load {
  readonly type: string
  /** Of the integration. */
  readonly configuration: object
  /** Numbers outstanding at a time. */
  readonly lanes: number
  /** Resolves when there are no more numbers, or the run is over. */
  run(run: LoadRun): Promise<void>
}

const START = 1_700_000_000_000
const PAUSE_MS = 20

export function textOf(device: string, n: number): string {
  return JSON.stringify({ station: device, ts: START + n, n })
}

export function httpLoad(device: string, addressOf: () => string): Load {
  return {
    ...{ type: 'HTTP', configuration: {}, lanes: 4 },
    run: (run) =>
      eachNumber(run, async (n) => {
        const answer = await fetch(addressOf(), { method: 'POST', body: textOf(device, n), signal: run.signal })
        return answer.status === 200
      }),
  }
}

/** The broker keeps what it took until it was acknowledged. */
export function mqttLoad(device: string, port: number): Load {
  return {
    type: 'MQTT',
    configuration: { host: '127.0.0.1', port, topics: [{ filter: 'plant/#', qos: 1 }] },
    lanes: 1,
    run: async (run) => {
      const publisher = await connectAsync(`mqtt://127.0.0.1:${port}`)
      try {
        await eachNumber(run, async (n) => {
          await publisher.publishAsync('plant/a', textOf(device, n), { qos: 1 })
          return true
        })
      } finally {
        await publisher.endAsync(true)
      }
    },
  }
}

/** The topic keeps every record; what is before the offset of the group is not read again. */
export async function kafkaLoad(device: string, broker: string): Promise<Load> {
  const brokers = { clientId: 'load', bootstrapBrokers: [broker] }
  const admin = new Admin(brokers)
  await admin.createTopics({ topics: [device], partitions: 3, replicas: 1 })
  await admin.close()
  return {
    type: 'KAFKA',
    configuration: { brokers: [broker], topics: [device] },
    lanes: 1,
    run: async (run) => {
      const producer = new Producer({ ...brokers, serializers: stringSerializers })
      try {
        await eachNumber(run, async (n) => {
          await producer.send({ messages: [{ topic: device, partition: n % 3, value: textOf(device, n) }] })
          return true
        })
      } finally {
        await producer.close(true)
      }
    },
  }
}

/** A folder keeps its files until they are read: in `done/` all of one is stored. */
export function fileLoad(device: string, folderOf: () => string): Load {
  return {
    type: 'FILE',
    configuration: { folder: 'in', format: 'NDJSON', pollSeconds: 1 },
    lanes: 1,
    run: async (run) => {
      const folder = folderOf()
      for (;;) {
        const numbers: number[] = []
        for (let n = run.next(); n !== undefined; n = run.next()) {
          numbers.push(n)
          if (numbers.length === LINES_OF_FILE) break
        }
        const [first] = numbers
        if (first === undefined) return
        const name = `${first}.json`
        // Beside it, so that it is there whole at once.
        await writeFile(join(folder, `.${name}`), numbers.map((n) => `${textOf(device, n)}\n`).join(''))
        await rename(join(folder, `.${name}`), join(folder, name))
        while (!run.signal.aborted && !existsSync(join(folder, 'done', name))) await sleep(PAUSE_MS)
        for (const n of numbers) run.acknowledged(n)
      }
    },
  }
}

const LINES_OF_FILE = 300

/** Lines, several on their way at a time, answered in their order. */
export function tcpLoad(device: string, port: number): Load {
  return {
    type: 'TCP',
    configuration: { port, answer: 'OK\n' },
    lanes: 2,
    run: async (run) => {
      for (;;) {
        if (run.signal.aborted) return
        const isOver = await linesOver(port, device, run)
        if (isOver) return
        await sleep(PAUSE_MS)
      }
    },
  }
}

const LINES_AT_ONCE = 8

/** True where there are no more numbers. */
async function linesOver(port: number, device: string, run: LoadRun): Promise<boolean> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  const sent: number[] = []
  let isOver = false
  const fill = (): void => {
    while (!isOver && sent.length < LINES_AT_ONCE) {
      const n = run.next()
      if (n === undefined) isOver = true
      else {
        sent.push(n)
        socket.write(`${textOf(device, n)}\n`)
      }
    }
    if (sent.length === 0) socket.destroy()
  }
  let heard = ''
  socket.on('connect', fill).on('data', (chunk) => {
    heard += chunk.toString()
    for (; heard.startsWith('OK\n'); heard = heard.slice(3)) {
      const n = sent.shift()
      if (n !== undefined) run.acknowledged(n)
    }
    fill()
  })
  const stop = (): void => void socket.destroy()
  run.signal.addEventListener('abort', stop)
  await once(socket, 'close').catch(() => undefined)
  run.signal.removeEventListener('abort', stop)
  return isOver && sent.length === 0
}

export function udpLoad(device: string, port: number): Load {
  return {
    type: 'UDP',
    configuration: { port, answer: 'OK' },
    lanes: 4,
    run: async (run) => {
      await eachNumber(run, async (n) => {
        // One for each: an answer that comes late belongs to nobody else.
        const socket = createSocket('udp4').on('error', () => undefined)
        try {
          socket.send(textOf(device, n), port, '127.0.0.1')
          const signal = AbortSignal.any([run.signal, AbortSignal.timeout(1000)])
          await once(socket, 'message', { signal })
          return true
        } finally {
          socket.close()
        }
      })
    },
  }
}

/** One after the other; a number that was refused is left out: only what was acknowledged is looked for. */
export async function eachNumber(run: LoadRun, send: (n: number) => Promise<boolean>): Promise<void> {
  for (let n = run.next(); n !== undefined && !run.signal.aborted; n = run.next()) {
    const isTaken = await send(n).catch(() => false)
    if (isTaken) run.acknowledged(n)
    else await sleep(PAUSE_MS)
  }
}
