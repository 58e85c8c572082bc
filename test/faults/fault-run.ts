/** What the fault tests share: devices with ledgers, waiting for the queue to be empty, reading back. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { RestClient, login } from '../support/clients.ts'
import { figure } from '../support/figure.ts'
import { createLwm2mDevice, createLwm2mProfile } from '../support/lwm2m-device.ts'
import { compare, openLedger, type ReadPoint } from '../support/ledger.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { LOADED_LWM2M_PROFILE } from './lwm2m-sender.ts'
import { GATEWAY_TOKEN, type LoadedDevice } from './workload.ts'

export const TRANSPORTS: readonly LoadedDevice['transport'][] = [
  ...(['MQTT', 'HTTP', 'GATEWAY', 'HTTP', 'GATEWAY', 'HTTP', 'MQTT', 'HTTP'] as const),
  ...(['COAP', 'MQTT_QOS_2', 'COAP', 'MQTT_QOS_2', 'SPARKPLUG', 'SPARKPLUG', 'LWM2M', 'LWM2M'] as const),
]

/**
 * The first eight over HTTP, MQTT and through one gateway, eight more over CoAP, MQTT QoS 2, as edge nodes of Sparkplug and over LwM2M; half with
 * times of their own.
 */
export async function createDevices(
  millrace: RunningMillrace,
  count: number,
  transports = TRANSPORTS,
): Promise<LoadedDevice[]> {
  const rest = new RestClient(millrace, await login(millrace))
  const gateway = { name: 'loaded gateway', type: 'default', additionalInfo: { gateway: true } }
  await rest.expect('POST', `/api/device?accessToken=${GATEWAY_TOKEN}`, gateway)
  await rest.expect('POST', '/api/deviceProfile', EDGE_NODES)
  const meters = await createLwm2mProfile(rest, 'loaded meters', LOADED_LWM2M_PROFILE)
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const token = `LOADED_${index}`
      const transport = transports[index % transports.length] ?? 'HTTP'
      const type = transport === 'SPARKPLUG' ? EDGE_NODES.name : 'default'
      const device = { name: `loaded ${index}`, type }
      const deviceId =
        transport === 'LWM2M'
          ? await createLwm2mDevice(rest, meters, token)
          : (await rest.expect<{ id: { id: string } }>('POST', `/api/device?accessToken=${token}`, device)).id.id
      return { ledger: openLedger(device.name, token, deviceId), transport, explicitTimes: index % 4 < 2 }
    }),
  )
}

/** A profile of devices that are edge nodes of Sparkplug. */
export const EDGE_NODES = {
  ...{ name: 'edge node', type: 'DEFAULT', transportType: 'MQTT' },
  profileData: {
    configuration: { type: 'DEFAULT' },
    provisionConfiguration: { type: 'DISABLED' },
    transportConfiguration: { type: 'MQTT', sparkplug: true },
  },
}

/** Compares what every device sent with what the store has, once the queue has nothing left. */
export async function compareAll(
  millrace: RunningMillrace,
  devices: readonly LoadedDevice[],
): Promise<ReturnType<typeof compare>> {
  const rest = new RestClient(millrace, await login(millrace))
  await drained(millrace)
  return compare(
    await Promise.all(devices.map(async ({ ledger }) => ({ ledger, points: await readBack(rest, ledger.deviceId) }))),
  )
}

/** What was acknowledged by now; what is sent until it is compared may be found too. */
export function acknowledgedByNow(devices: readonly LoadedDevice[]): LoadedDevice[] {
  return devices.map((device) => ({
    ...device,
    ledger: { ...device.ledger, acknowledged: new Set(device.ledger.acknowledged) },
  }))
}

async function readBack(rest: RestClient, deviceId: string): Promise<ReadPoint[]> {
  const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?keys=n&startTs=0&endTs=9999999999999&limit=1000000&orderBy=ASC&useStrictDataTypes=true`
  const answer = await rest.expect<{ n?: ReadPoint[] }>('GET', path)
  return answer.n ?? []
}

/** Waits until nothing is left in the link nor in parked lanes: what a crash left behind is delivered again first. */
export async function drained(millrace: RunningMillrace): Promise<void> {
  await isZero(millrace, 'millrace_link_unsettled_messages', 120)
  // What a tenant holds beyond its share of room is parked, and tried again after a pause.
  await isZero(millrace, 'millrace_parked_messages', 120)
}

async function isZero(millrace: RunningMillrace, name: string, withinSeconds: number): Promise<void> {
  for (let attempt = 0; attempt < withinSeconds * 20; attempt++) {
    if ((await figure(millrace, name)) === 0) return
    await delay(50)
  }
  assert.fail(`${name} was not 0 within ${withinSeconds} s`)
}
