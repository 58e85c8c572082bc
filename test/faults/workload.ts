/**
 * Load of numbered points over MQTT QoS 1 and 2, an MQTT gateway, edge nodes of Sparkplug, HTTP, CoAP and LwM2M until the connections die. Every device sends its values in
 * order, one over MQTT several in flight, the others one at a time; half of them carry no time, so that the server's stamps are tested too.
 */
import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { take, type DeviceLedger } from '../support/ledger.ts'
import { payloadBytes, willOf } from '../../transports/mqtt/sparkplug/testkit.ts'
import { sendOverCoap } from './coap-sender.ts'
import { packOf, sendOverLwm2m } from './lwm2m-sender.ts'

const MQTT_IN_FLIGHT = 8
/** Of the gateway that `createDevices` makes. */
export const GATEWAY_TOKEN = 'LOADED_GATEWAY'

export interface Load {
  /** Acknowledgements so far in this round. */
  acknowledged(): number
  /** Stops sending; resolves when every sender has ended (each value acknowledged or unknown). */
  end(): Promise<void>
}

export interface LoadedDevice {
  readonly ledger: DeviceLedger
  /** `GATEWAY`: all of these share the connection of one gateway. */
  readonly transport: 'MQTT' | 'MQTT_QOS_2' | 'GATEWAY' | 'SPARKPLUG' | 'HTTP' | 'COAP' | 'LWM2M'
  /** Sends explicit times, one second apart, when true. */
  readonly explicitTimes: boolean
}

/** The time of a value of a device with explicit times, Unix ms. */
export function explicitTime(value: number): number {
  return 1_700_000_000_000 + value * 1000
}

export async function startLoad(millrace: RunningMillrace, devices: readonly LoadedDevice[]): Promise<Load> {
  const stop = new AbortController()
  let acknowledged = 0
  const count = (ledger: DeviceLedger, value: number): void => {
    ledger.acknowledged.add(value)
    acknowledged++
  }
  const isBehind = devices.some(({ transport }) => transport === 'GATEWAY')
  const gateway = isBehind ? await open(millrace, GATEWAY_TOKEN) : undefined
  const senders = await Promise.all(
    devices.map(async (device) => {
      const { transport, ledger } = device
      if (transport === 'HTTP') return startHttpSender(millrace, device, count, stop.signal)
      if (transport === 'COAP') return startCoapSender(millrace, device, count, stop.signal)
      if (transport === 'LWM2M') return startLwm2mSender(millrace, device, count, stop.signal)
      if (transport === 'GATEWAY' && gateway !== undefined)
        return startMqttSender(gateway, GATEWAY_TELEMETRY, device, count, stop.signal)
      if (transport === 'SPARKPLUG') return startEdgeNode(millrace, device, count, stop.signal)
      const publishing = transport === 'MQTT_QOS_2' ? TELEMETRY_QOS_2 : TELEMETRY
      return startMqttSender(await open(millrace, ledger.token), publishing, device, count, stop.signal)
    }),
  )
  return {
    acknowledged: () => acknowledged,
    end: async () => {
      stop.abort()
      await Promise.all(senders.map(async (sender) => sender.ended))
      gateway?.end(true)
    },
  }
}

interface Sender {
  readonly ended: Promise<void>
}

type Count = (ledger: DeviceLedger, value: number) => void

function body(device: LoadedDevice, value: number): string {
  const values = { n: value, temperature: 20 + (value % 10), text: `value ${value}` }
  return JSON.stringify(device.explicitTimes ? { ts: explicitTime(value), values } : values)
}

/** How one device's values go out on a connection. */
interface Publishing {
  readonly topic: string
  readonly qos: 1 | 2
  /** Whether the connection is the device's alone. */
  readonly isOwn: boolean
  readonly payload: (device: LoadedDevice, value: number) => string | Buffer
}

const TELEMETRY: Publishing = { topic: 'v1/devices/me/telemetry', qos: 1, isOwn: true, payload: body }
const TELEMETRY_QOS_2: Publishing = { ...TELEMETRY, qos: 2 }
const GATEWAY_TELEMETRY: Publishing = {
  topic: 'v1/gateway/telemetry',
  qos: 1,
  isOwn: false,
  payload: (device, value) => `{${JSON.stringify(device.ledger.name)}:[${body(device, value)}]}`,
}

async function open(millrace: RunningMillrace, username: string, more: IClientOptions = {}): Promise<MqttClient> {
  const port = millrace.ports['mqtt'] ?? 0
  const client = connect({ host: '127.0.0.1', port, username, reconnectPeriod: 0, protocolVersion: 4, ...more })
  client.setMaxListeners(0)
  await connected(client)
  return client
}

function startMqttSender(
  client: MqttClient,
  { topic, qos, isOwn, payload }: Publishing,
  device: LoadedDevice,
  count: Count,
  stop: AbortSignal,
): Sender {
  let inFlight = 0
  const ended = new Promise<void>((resolve) => {
    let finished = false
    const finish = (): void => {
      if (finished) return
      finished = true
      if (isOwn) client.end(true)
      resolve()
    }
    client.on('error', finish)
    client.on('close', finish)
    const send = (): void => {
      if (stop.aborted && inFlight === 0) return finish()
      while (inFlight < MQTT_IN_FLIGHT && !stop.aborted && !finished) {
        const value = take(device.ledger)
        inFlight++
        client.publish(topic, payload(device, value), { qos }, (error) => {
          inFlight--
          if (error !== undefined && error !== null) return finish() // The connection died: the value's fate is unknown.
          count(device.ledger, value)
          send()
        })
      }
    }
    send()
  })
  return { ended }
}

/** Its births carry a value of the ledger too: what was acknowledged of them has to be there. */
async function startEdgeNode(
  millrace: RunningMillrace,
  device: LoadedDevice,
  count: Count,
  stop: AbortSignal,
): Promise<Sender> {
  const { token } = device.ledger
  const topic = (type: string): string => `spBv1.0/load/${type}/${token}`
  const client = await open(millrace, token, { will: { ...willOf(3), topic: topic('NDEATH') } })
  const next = { seq: 0 }
  const payload = (_device: LoadedDevice, value: number): Buffer => {
    const seq = next.seq
    next.seq = (seq + 1) % 256
    const time = device.explicitTimes ? { timestamp: explicitTime(value) } : {}
    const birth = [{ name: 'bdSeq', datatype: 4, long_value: 3 }]
    return payloadBytes({
      seq,
      metrics: [...(isBorn ? [] : birth), { name: 'n', datatype: 4, long_value: value, ...time }],
    })
  }
  let isBorn = false
  const first = take(device.ledger)
  client.publish(topic('NBIRTH'), payload(device, first), { qos: 1 }, (error) => {
    if (error === undefined || error === null) count(device.ledger, first)
  })
  isBorn = true
  return startMqttSender(client, { topic: topic('NDATA'), qos: 1, isOwn: true, payload }, device, count, stop)
}

function connected(client: MqttClient): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve())
    client.once('error', reject)
  })
}

function startHttpSender(millrace: RunningMillrace, device: LoadedDevice, count: Count, stop: AbortSignal): Sender {
  const send = async (): Promise<void> => {
    while (!stop.aborted) {
      const value = take(device.ledger)
      try {
        const response = await fetch(`${millrace.url}/api/v1/${device.ledger.token}/telemetry`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body(device, value),
        })
        await response.arrayBuffer()
        if (response.status !== 200)
          throw new Error(`${device.ledger.name}, value ${value}: answered ${response.status}`)
        count(device.ledger, value)
      } catch (error) {
        // The process died under the request: the value's fate is unknown, which is what the ledger says of it.
        if (error instanceof TypeError) return
        throw error
      }
    }
  }
  return { ended: send() }
}

function startCoapSender(millrace: RunningMillrace, device: LoadedDevice, count: Count, stop: AbortSignal): Sender {
  const next = (): { payload: string; acknowledged: () => void } => {
    const value = take(device.ledger)
    return { payload: body(device, value), acknowledged: () => count(device.ledger, value) }
  }
  return { ended: sendOverCoap({ port: millrace.ports['coap'] ?? 0, token: device.ledger.token }, next, stop) }
}

function startLwm2mSender(millrace: RunningMillrace, device: LoadedDevice, count: Count, stop: AbortSignal): Sender {
  const next = (): { payload: string; acknowledged: () => void } => {
    const value = take(device.ledger)
    const payload = packOf(value, device.explicitTimes ? explicitTime(value) : undefined)
    return { payload, acknowledged: () => count(device.ledger, value) }
  }
  const target = { port: millrace.ports['lwm2m'] ?? 0, endpoint: device.ledger.token }
  return { ended: sendOverLwm2m(target, next, stop) }
}
