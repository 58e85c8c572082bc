/**
 * How late is an update where many follow? 1,000 devices publish ten keys each over MQTT QoS 1 while they are followed
 *
 * - by 10,000 subscriptions, one a device and a key (TIMESERIES, 10 sockets): 5,000 points a second, each of which one subscription shows;
 * - by a dashboard of 50 widgets over all 1,000 devices (ENTITY_DATA, one socket): 1,000 points a second, each of which five widgets show.
 *
 * From before the publish to the update in the hands of the client, which runs in the process that publishes.
 *
 *   node benchmarks/subscriptions/run.ts [--runs 3] [--seconds 10] [--shape embedded]
 */
import { connectAsync, type MqttClient } from 'mqtt'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import WebSocket from 'ws'
import { RestClient, login } from '../../test/support/clients.ts'
import { spread, writeResult, type Spread } from '../lib/report.ts'
import { startShape } from '../lib/shape.ts'

const DEVICES = 1000
const KEYS = Array.from({ length: 10 }, (_, place) => `k${place}`)
const WIDGETS = 50
const COMMANDS_PER_FRAME = 50
const TICK_MS = 10

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '10' },
    shape: { type: 'string', default: 'embedded' },
  },
})
const runs = Number(values.runs)
const seconds = Number(values.seconds)

/** When what was published under a number began; what is known before the load has the number 0. */
const began = new Map<number, number>()
let took: number[] = []

function noted(value: string | null): void {
  const at = began.get(Number(value))
  if (at !== undefined) took.push(performance.now() - at)
}

interface Frame {
  /** Of the commands that name one entity; their `data` are points. */
  readonly subscriptionId?: number
  readonly data?: Readonly<Record<string, readonly (readonly [number, string | null])[]>> | null
  readonly update?: readonly {
    readonly latest: Readonly<Record<string, Readonly<Record<string, { readonly value: string }>>>> | null
  }[]
}

class Follower {
  private readonly socket: WebSocket
  private answers = 0
  private wanted: { readonly count: number; readonly resolve: () => void } | undefined

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (text: Buffer) => this.heard(JSON.parse(text.toString()) as Frame))
  }

  static async open(url: string, token: string): Promise<Follower> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws`)
    await once(socket, 'open')
    socket.send(JSON.stringify({ authCmd: { cmdId: 0, token } }))
    return new Follower(socket)
  }

  /** A few at a time, each answered before the next are sent. */
  async follow(cmds: readonly object[]): Promise<void> {
    for (let start = 0; start < cmds.length; start += COMMANDS_PER_FRAME) {
      const some = cmds.slice(start, start + COMMANDS_PER_FRAME)
      const count = this.answers + some.length
      const answered = new Promise<void>((resolve) => (this.wanted = { count, resolve }))
      this.socket.send(JSON.stringify({ cmds: some }))
      await answered
    }
  }

  close(): void {
    this.socket.close()
  }

  private heard({ subscriptionId, data, update }: Frame): void {
    this.answers++
    if (this.answers >= (this.wanted?.count ?? Infinity)) this.wanted?.resolve()
    if (began.size === 0) return
    for (const { latest } of update ?? [])
      for (const shown of Object.values(latest ?? {})) for (const { value } of Object.values(shown)) noted(value)
    if (subscriptionId === undefined) return
    for (const points of Object.values(data ?? {})) for (const [, value] of points) noted(value)
  }
}

const shape = await startShape(values.shape)
try {
  const { millrace } = shape
  const token = await login(millrace)
  const rest = new RestClient(millrace, token)
  const ids: string[] = []
  const clients: MqttClient[] = []
  for (let number = 0; number < DEVICES; number++) {
    ids.push(await rest.createDevice(`followed ${number}`, `FOLLOWED${number}`))
    const port = millrace.ports['mqtt'] ?? 0
    clients.push(await connectAsync({ host: '127.0.0.1', port, username: `FOLLOWED${number}`, protocolVersion: 4 }))
  }
  let number = 0
  const publish = (): void => {
    const value = ++number
    began.set(value, performance.now())
    const payload = JSON.stringify(Object.fromEntries(KEYS.map((key) => [key, value])))
    void clients[value % DEVICES]?.publishAsync('v1/devices/me/telemetry', payload, { qos: 1 })
  }
  /** Waits until every update came, or nothing came any more. */
  const load = async (
    perSecond: number,
    updatesPerMessage: number,
  ): Promise<{ p50: number; p99: number; share: number }> => {
    took = []
    began.clear()
    const first = number
    const start = performance.now()
    while (performance.now() - start < seconds * 1000) {
      const due = first + Math.floor(((performance.now() - start) / 1000) * perSecond)
      while (number < due) publish()
      await new Promise((resolve) => setTimeout(resolve, TICK_MS))
    }
    const expected = (number - first) * updatesPerMessage
    for (
      let silent = 0, before = -1;
      took.length < expected && silent < 20;
      silent = took.length === before ? silent + 1 : 0
    ) {
      before = took.length
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const sorted = took.toSorted((a, b) => a - b)
    const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
    return { p50: at(0.5), p99: at(0.99), share: took.length / expected }
  }
  const measured = async (name: string, perSecond: number, updatesPerMessage: number) => {
    await load(perSecond, updatesPerMessage)
    const all: { p50: number; p99: number; share: number }[] = []
    for (let run = 0; run < runs; run++) {
      all.push(await load(perSecond, updatesPerMessage))
      process.stderr.write(`${name}: ${JSON.stringify(all.at(-1))}\n`)
    }
    return {
      p50Ms: spread(all.map(({ p50 }) => p50)),
      p99Ms: spread(all.map(({ p99 }) => p99)),
      shareOfUpdatesSeen: spread(all.map(({ share }) => share)),
    }
  }

  const results: Record<string, Record<string, Spread>> = {}
  const sockets = await Promise.all(KEYS.map(() => Follower.open(millrace.url, token)))
  await Promise.all(
    sockets.map((socket, place) =>
      socket.follow(
        ids.map((entityId, index) => ({
          ...{ type: 'TIMESERIES', cmdId: index + 1, entityType: 'DEVICE', entityId, keys: KEYS[place] },
        })),
      ),
    ),
  )
  results['10,000 subscriptions, 5,000 matching points/s'] = await measured('subscriptions', 500, KEYS.length)
  for (const socket of sockets) socket.close()

  const dashboard = await Follower.open(millrace.url, token)
  const query = {
    entityFilter: { type: 'entityName', entityType: 'DEVICE', entityNameFilter: 'followed' },
    pageLink: { page: 0, pageSize: DEVICES },
    entityFields: [{ type: 'ENTITY_FIELD', key: 'name' }],
  }
  const widgets = Array.from({ length: WIDGETS }, (_, place) => ({
    ...{ type: 'ENTITY_DATA', cmdId: place + 1, query },
    latestCmd: { keys: [{ type: 'TIME_SERIES', key: KEYS[place % KEYS.length] }] },
  }))
  for (const widget of widgets) await dashboard.follow([widget])
  results['a dashboard of 50 widgets over 1,000 devices, 1,000 points/s'] = await measured('dashboard', 100, WIDGETS)
  dashboard.close()
  await Promise.all(clients.map((client) => client.endAsync(true)))
  writeResult(
    values.shape === 'embedded' ? 'subscriptions' : `subscriptions-${values.shape}`,
    `node benchmarks/subscriptions/run.ts --runs ${runs} --seconds ${seconds} --shape ${values.shape}`,
    { shape: values.shape, devices: DEVICES, keys: KEYS.length, widgets: WIDGETS, results },
  )
} finally {
  await shape.close()
}
