/**
 * What an integration acknowledged at its source is stored: each kind is under load, the process is killed (SIGKILL), started again on the same data, and
 * every number that was acknowledged, or that the source still keeps, is read back. `ROUNDS` sets how often, `ACKNOWLEDGED` how much
 * of each kind has to be acknowledged in all of them.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../conformance/wait.ts'
import { RestClient, login } from '../support/clients.ts'
import { skipWithoutMosquitto, startMosquitto } from '../support/mosquitto.ts'
import { skipUnless } from '../support/require-tool.ts'
import { canRunKafka, startKafka } from '../support/servers/index.ts'
import { freePorts } from '../support/servers/ports.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { fileLoad, httpLoad, kafkaLoad, mqttLoad, tcpLoad, udpLoad, type Load } from './integration-loads.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 1)
const SCRIPT = 'return {deviceName: payload.station, telemetry: {ts: payload.ts, values: {n: payload.n}}};'
const START = 1_700_000_000_000
/** Of each kind before the process is killed. */
const ENOUGH = Math.max(40, Math.ceil(Number(process.env['ACKNOWLEDGED'] ?? 0) / ROUNDS))
/** Of one kind in one round: a broker keeps a thousand for one who is away. */
const MOST = Math.max(800, ENOUGH + 300)

interface Under {
  readonly device: string
  readonly load: Load
  /** In all rounds. */
  readonly acknowledged: Set<number>
  /** In this round. */
  fresh: number
  last: number
}

async function restOf(millrace: RunningMillrace): Promise<RestClient> {
  return new RestClient(millrace, await login(millrace))
}

async function storedOf(rest: RestClient, device: string, most: number): Promise<ReadonlySet<number>> {
  const answer = await rest.call('GET', `/api/tenant/devices?deviceName=${device}`)
  if (answer.status !== 200) return new Set()
  const { id } = answer.json<{ id: { id: string } }>()
  const path = `/api/plugins/telemetry/DEVICE/${id.id}/values/timeseries?keys=n&limit=${most + 1}&useStrictDataTypes=true`
  const { n = [] } = await rest.expect<{ n?: { value: number }[] }>(
    'GET',
    `${path}&startTs=${START}&endTs=${START + most + 1}`,
  )
  return new Set(n.map(({ value }) => value))
}

/** Resolves with what ends the loads: when each kind had enough acknowledged. */
async function beginLoads(all: readonly Under[]): Promise<() => Promise<void>> {
  const abort = new AbortController()
  const enough = all.map((each) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    each.fresh = 0
    const most = each.last + MOST
    const lanes = Array.from({ length: each.load.lanes }, () =>
      each.load.run({
        next: () => (each.last < most && !abort.signal.aborted ? ++each.last : undefined),
        acknowledged: (n) => {
          each.acknowledged.add(n)
          if (++each.fresh >= ENOUGH) resolve()
        },
        signal: abort.signal,
      }),
    )
    return { promise, lanes }
  })
  const stuck = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => {
      const told = all.map(({ device, fresh }) => `${device} ${fresh}`).join(', ')
      stuck.reject(new Error(`too few were acknowledged: ${told}`))
    },
    (120_000 + 200 * ENOUGH) * SLOWNESS,
  )
  await Promise.race([Promise.all(enough.map(({ promise }) => promise)), stuck.promise])
  clearTimeout(timer)
  return async () => {
    abort.abort()
    await Promise.all(enough.flatMap(({ lanes }) => lanes))
  }
}

test(
  `what integrations acknowledged is stored, over ${ROUNDS} kills under load`,
  { timeout: (300_000 + ROUNDS * (300_000 + 200 * ENOUGH)) * SLOWNESS },
  async (context) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millrace-integration-kill-'))
    context.after(() => rm(dataDir, { recursive: true, force: true }))
    const [tcpPort = 0, udpPort = 0] = await freePorts(2)
    const files = await mkdtemp(join(tmpdir(), 'millrace-integration-files-'))
    context.after(() => rm(files, { recursive: true, force: true }))
    const environment = {
      INTEGRATION_FOLDER: files,
      OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.0/8',
      INTEGRATION_PORTS: `${tcpPort},${udpPort}`,
    }
    let millrace = await startMillrace({ dataDir, environment })
    context.after(() => millrace.kill())
    let hook = ''
    let tenantId = ''
    const loads: Load[] = [
      httpLoad('by-HTTP', () => millrace.url + hook),
      tcpLoad('by-TCP', tcpPort),
      udpLoad('by-UDP', udpPort),
      fileLoad('by-FILE', () => join(files, tenantId, 'in')),
    ]
    if (skipWithoutMosquitto() === false) {
      const broker = await startMosquitto()
      context.after(() => broker.close())
      loads.push(mqttLoad('by-MQTT', broker.port))
    }
    if (skipUnless(canRunKafka(), 'java or mvn') === false) {
      const kafka = await startKafka()
      context.after(() => kafka.stop())
      loads.push(await kafkaLoad('by-KAFKA', kafka.url))
    }
    let rest = await restOf(millrace)
    const all: readonly Under[] = loads.map((load) => ({
      ...{ load, device: `by-${load.type}`, acknowledged: new Set<number>(), fresh: 0, last: 0 },
    }))
    const user = await rest.expect<{ tenantId: { id: string } }>('GET', '/api/auth/user')
    tenantId = user.tenantId.id
    const ids: string[] = []
    for (const { load } of all) {
      const { type, configuration } = load
      const made = await rest.expect<{ id: { id: string } }>('POST', '/api/integration', {
        ...{ name: type, type, configuration, converter: { script: SCRIPT } },
      })
      if (type === 'HTTP')
        ({ path: hook } = await rest.expect<{ path: string }>('GET', `/api/integration/${made.id.id}/webhook`))
      else ids.push(made.id.id)
    }
    // What nobody subscribed is kept for nobody.
    for (const id of ids) {
      const path = `/api/integration/${id}/statistics`
      await eventually(
        () => rest.expect<{ state: string }>('GET', path),
        ({ state }) => state === 'RUNNING',
        90_000 * SLOWNESS,
      )
    }
    for (let round = 1; round <= ROUNDS; round++) {
      const endLoads = await beginLoads(all)
      await millrace.kill()
      await endLoads()
      millrace = await startMillrace({ dataDir, environment })
      rest = await restOf(millrace)
      for (const { device, acknowledged, last } of all) {
        await eventually(
          async () => {
            const stored = await storedOf(rest, device, last)
            return { device, lost: [...acknowledged].filter((n) => !stored.has(n)).slice(0, 20) }
          },
          ({ lost }) => lost.length === 0,
          90_000 * SLOWNESS,
        )
      }
      const told = all.map(({ device, acknowledged }) => `${device} ${acknowledged.size}`).join(', ')
      context.diagnostic(`round ${round}: acknowledged and found: ${told}`)
    }
  },
)
