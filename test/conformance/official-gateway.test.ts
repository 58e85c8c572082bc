/**
 * The official IoT gateway, unchanged, brings devices of a plant's broker: their data, attributes, calls, new names and ends, and what it
 * kept while the server was dead.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connectAsync, type MqttClient } from 'mqtt'
import { RestClient, login } from '../support/clients.ts'
import { skipWithoutMosquitto, startMosquitto } from '../support/mosquitto.ts'
import { pythonGateway } from '../support/python-clients.ts'
import { requireTool } from '../support/require-tool.ts'
import { freePorts } from '../support/servers/ports.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const TOKEN = 'GATEWAY_OF_THE_PLANT'
const CONNECTOR = 'Plant'
const LIMIT_MS = 120_000

interface Device {
  readonly id: { readonly id: string }
  readonly name: string
}
type Series = Readonly<Record<string, readonly { readonly value: string }[]>>

const topicName = { deviceNameExpressionSource: 'topic', deviceNameExpression: '(?<=plant/)(.*?)(?=/)' }

/** As its users write it, for topics `plant/NAME/…`. */
function connectorConfiguration(port: number) {
  return {
    broker: {
      ...{ host: '127.0.0.1', port, clientId: 'gateway', version: 5, security: { type: 'anonymous' } },
      ...{ maxMessageNumberPerWorker: 10, maxNumberOfWorkers: 10 },
    },
    mapping: [
      {
        topicFilter: 'plant/+/data',
        subscriptionQos: 1,
        converter: {
          type: 'json',
          deviceInfo: {
            ...topicName,
            ...{ deviceProfileExpressionSource: 'constant', deviceProfileExpression: 'pump' },
          },
          timeout: 60_000,
          attributes: [{ type: 'string', key: 'model', value: '${model}' }],
          timeseries: [{ type: 'integer', key: 'pressure', value: '${pressure}' }],
        },
      },
    ],
    requestsMapping: {
      attributeUpdates: [
        {
          deviceNameFilter: '.*',
          attributeFilter: 'setpoint',
          topicExpression: 'plant/${deviceName}/setpoint',
          valueExpression: '${attributeValue}',
        },
      ],
      serverSideRpc: [
        {
          type: 'twoWay',
          deviceNameFilter: '.*',
          methodFilter: 'getValve',
          requestTopicExpression: 'plant/${deviceName}/call/${methodName}/${requestId}',
          responseTopicExpression: 'plant/${deviceName}/answer/${methodName}/${requestId}',
          responseTopicQoS: 1,
          responseTimeout: 10_000,
          valueExpression: '${params}',
        },
      ],
    },
  }
}

function gatewayConfiguration(port: number) {
  return {
    thingsboard: {
      ...{ host: '127.0.0.1', port, qos: 1, remoteShell: false, remoteConfiguration: true },
      ...{ statistics: { enable: false }, deviceFiltering: { enable: false }, handleDeviceRenaming: true },
      ...{ maxPayloadSizeBytes: 8196, minPackSendDelayMS: 50, minPackSizeToSend: 500 },
      ...{ checkConnectorsConfigurationInSeconds: 60, reportStrategy: { type: 'ON_RECEIVED' } },
      security: { type: 'accessToken', accessToken: TOKEN },
    },
    storage: { type: 'memory', read_records_count: 100, max_records_count: 100_000 },
    grpc: { enabled: false },
    connectors: [{ name: CONNECTOR, type: 'mqtt', configuration: 'plant.json' }],
  }
}

async function startGateway(context: TestContext, mqttPort: number, plantPort: number): Promise<() => string> {
  const python = await pythonGateway()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-gateway-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const logs = join(folder, 'logs')
  await mkdir(logs)
  const handlers = { console: { class: 'logging.StreamHandler', level: 'INFO', stream: 'ext://sys.stdout' } }
  const logger = { level: 'INFO', handlers: ['console'], propagate: false }
  const logging = { version: 1, handlers, loggers: { service: logger, tb_connection: logger } }
  await writeFile(join(folder, 'logs.json'), JSON.stringify(logging))
  await writeFile(join(folder, 'plant.json'), JSON.stringify(connectorConfiguration(plantPort)))
  await writeFile(join(folder, 'tb_gateway.json'), JSON.stringify(gatewayConfiguration(mqttPort)))
  const gateway = spawn(python, ['-B', '-c', 'from thingsboard_gateway.tb_gateway import daemon; daemon()'], {
    cwd: folder,
    env: { ...process.env, TB_GW_CONFIG_DIR: `${folder}/`, TB_GW_LOGS_PATH: logs },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [gateway.stdout, gateway.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-20_000)))
  context.after(async () => {
    gateway.kill('SIGKILL')
    if (gateway.exitCode === null && gateway.signalCode === null) await once(gateway, 'exit')
  })
  return () => output
}

/** What the tenant sees. */
class Tenant {
  private readonly rest: RestClient

  constructor(rest: RestClient) {
    this.rest = rest
  }

  static async of(millrace: RunningMillrace): Promise<Tenant> {
    return new Tenant(new RestClient(millrace, await login(millrace)))
  }

  async makeGateway(): Promise<string> {
    const draft = { name: 'Gateway', additionalInfo: { gateway: true } }
    return (await this.rest.expect<Device>('POST', `/api/device?accessToken=${TOKEN}`, draft)).id.id
  }

  async named(name: string): Promise<Device | undefined> {
    const answer = await this.rest.call('GET', `/api/tenant/devices?deviceName=${encodeURIComponent(name)}`)
    return answer.status === 200 ? answer.json<Device>() : undefined
  }

  async pressures(id: string): Promise<readonly number[]> {
    const path = `/api/plugins/telemetry/DEVICE/${id}/values/timeseries?keys=pressure&startTs=0&endTs=9999999999999`
    const { pressure = [] } = await this.rest.expect<Series>('GET', path)
    return pressure.map(({ value }) => Number(value)).reverse()
  }

  attributes(id: string): Promise<readonly { readonly key: string; readonly value: unknown }[]> {
    return this.rest.expect('GET', `/api/plugins/telemetry/DEVICE/${id}/values/attributes/CLIENT_SCOPE`)
  }

  share(id: string, values: object): Promise<void> {
    return this.rest.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/SHARED_SCOPE`, values)
  }

  call(id: string, method: string, params: unknown): Promise<unknown> {
    return this.rest.expect('POST', `/api/rpc/twoway/${id}`, { method, params, timeout: 60_000 })
  }

  rename(device: Device, name: string): Promise<Device> {
    return this.rest.expect('POST', '/api/device', { ...device, name })
  }

  async delete(id: string): Promise<void> {
    await this.rest.expect('DELETE', `/api/device/${id}`)
  }
}

const send = (plant: MqttClient, name: string, data: object) =>
  plant.publishAsync(`plant/${name}/data`, JSON.stringify(data), { qos: 1 })

const skip = skipWithoutMosquitto()

test('the official gateway works', { timeout: 600_000, skip }, async (context) => {
  if (!requireTool(context, 'python3')) return

  const broker = await startMosquitto()
  context.after(() => broker.close())
  const [mqttPort = 0] = await freePorts(1)
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-gateway-data-'))
  context.after(() => rm(dataDir, { recursive: true, force: true }))
  const start = () => startMillrace({ dataDir, environment: { MQTT_BIND_PORT: String(mqttPort) } })
  let millrace = await start()
  context.after(() => millrace.kill())
  let tenant = await Tenant.of(millrace)
  const gatewayId = await tenant.makeGateway()
  const output = await startGateway(context, mqttPort, broker.port)
  const plant = await connectAsync(`mqtt://127.0.0.1:${broker.port}`)
  context.after(() => plant.endAsync(true))
  const heard: string[] = []
  plant.on('message', (topic, body) => {
    heard.push(`${topic} ${body.toString()}`)
    const [, name, kind, method, request] = topic.split('/')
    if (kind === 'call') plant.publish(`plant/${name}/answer/${method}/${request}`, '{"open":true}', { qos: 1 })
  })
  await plant.subscribeAsync(['plant/+/call/#', 'plant/+/setpoint'], { qos: 1 })

  await eventually(
    async () => output(),
    (text) => text.includes('Gateway started'),
    LIMIT_MS,
  )
  const connected = () => tenant.call(gatewayId, 'gateway_devices', {}) as Promise<{ resp?: Record<string, string> }>

  // Data and attributes make the device.
  const pump = await eventually(
    async () => {
      await send(plant, 'pump', { model: 'P1', pressure: 1 })
      return tenant.named('pump')
    },
    (found) => found !== undefined,
    LIMIT_MS,
  )
  assert.ok(pump !== undefined)
  const { id } = pump.id
  await eventually(
    () => tenant.pressures(id),
    (values) => values.includes(1),
    LIMIT_MS,
  )
  const model = (all: readonly { key: string; value: unknown }[]) => all.find(({ key }) => key === 'model')?.value
  await eventually(
    () => tenant.attributes(id),
    (all) => model(all) === 'P1',
    LIMIT_MS,
  )

  // What is shared and called reaches the plant.
  await tenant.share(id, { setpoint: 7 })
  await eventually(
    async () => heard,
    (all) => all.includes('plant/pump/setpoint 7'),
    LIMIT_MS,
  )
  assert.deepEqual(await tenant.call(id, 'getValve', 'now'), { open: true })
  assert.deepEqual(await tenant.call(gatewayId, 'gateway_ping', {}), { code: 200, resp: 'pong' })
  assert.deepEqual(Object.keys((await connected()).resp ?? {}), ['pump'])

  // A new name: the plant keeps the old one, and makes no second device.
  const stored = await tenant.named('pump')
  assert.ok(stored !== undefined)
  await tenant.rename(stored, 'pump of hall 2')
  await eventually(
    async () => output(),
    (text) => text.includes('renamed'),
    LIMIT_MS,
  )
  await send(plant, 'pump', { model: 'P1', pressure: 2 })
  await eventually(
    () => tenant.pressures(id),
    (values) => values.includes(2),
    LIMIT_MS,
  )
  assert.equal(await tenant.named('pump'), undefined)

  // What it kept while the server was dead.
  await millrace.kill()
  await send(plant, 'pump', { model: 'P1', pressure: 100 })
  millrace = await start()
  tenant = await Tenant.of(millrace)
  await eventually(
    () => tenant.pressures(id),
    (values) => values.includes(100),
    LIMIT_MS,
  )

  // It lets a deleted device go.
  await tenant.delete(id)
  await eventually(connected, ({ resp }) => resp !== undefined && Object.keys(resp).length === 0, LIMIT_MS)
})
