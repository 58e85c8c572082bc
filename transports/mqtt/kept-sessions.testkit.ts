/** For the tests of sessions that outlive their connection: clients that ask for one, and leave. */
import assert from 'node:assert/strict'
import type { Packet } from 'mqtt-packet'
import { openMqttBench, type MqttBench, type RawClient } from './testkit.ts'

/** Seconds. */
export const HOUR = 3600

export async function bench(run: (bench: MqttBench) => Promise<void>, limits = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

export interface Connected {
  readonly device: RawClient
  readonly isPresent: boolean
  readonly expiry: number | undefined
}

export async function connect(
  { client }: MqttBench,
  sessionExpiryInterval: number | undefined,
  clean = false,
  { token = 'one', clientId = 'raw', receiveMaximum = 100 } = {},
): Promise<Connected> {
  const device = await client(5)
  const properties = { receiveMaximum, ...(sessionExpiryInterval === undefined ? {} : { sessionExpiryInterval }) }
  device.send(device.connectPacket(token, { clean, clientId, properties }))
  await device.received(1)
  const [connack] = device.packets.splice(0, 1)
  assert.ok(connack?.cmd === 'connack' && connack.reasonCode === 0)
  return { device, isPresent: connack.sessionPresent, expiry: connack.properties?.sessionExpiryInterval }
}

export async function leave({ gateway }: MqttBench, device: RawClient, packet?: Packet): Promise<void> {
  if (packet === undefined) device.socket.destroy()
  else device.send(packet)
  while ([...gateway.sessions].some(({ kind }) => kind === 'lasting')) await new Promise(setImmediate)
}
