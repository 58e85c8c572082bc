/** For the tests of edge nodes: what they send and hear, and a node that is born with one device. */
import assert from 'node:assert/strict'
import type { Packet } from 'mqtt-packet'
import type { RawClient } from '../testkit.ts'
import type { MqttLimits } from '../limits.ts'
import {
  NODE,
  openNodeBench,
  payloadBytes,
  readPayload,
  type NodeBench,
  type SentMetric,
  type SentPayload,
} from './testkit.ts'

export async function bench(
  run: (bench: NodeBench) => Promise<void>,
  { version = 5, limits = {} }: { version?: 4 | 5; limits?: Partial<MqttLimits> } = {},
): Promise<void> {
  const opened = await openNodeBench(version, limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

export function publish(client: RawClient, topic: string, payload: SentPayload | Buffer, messageId = 7) {
  const bytes = Buffer.isBuffer(payload) ? payload : payloadBytes(payload)
  return {
    ...client.publish(topic.startsWith('NODE') ? topic.replace('NODE', NODE) : topic, '', messageId),
    payload: bytes,
  }
}

export const isAnswer = ({ cmd }: Packet): boolean => cmd === 'puback' || cmd === 'disconnect'

/** What one publish of QoS 1 is answered with: the reason of its PUBACK, or what else came. */
export async function answered(client: RawClient, topic: string, payload: SentPayload | Buffer): Promise<unknown> {
  const before = client.packets.filter(isAnswer).length
  client.send(publish(client, topic, payload))
  for (let count = client.packets.length + 1; ; count++) {
    const answer = client.packets.filter(isAnswer)[before]
    if (answer !== undefined) return answer.cmd === 'puback' ? (answer.reasonCode ?? 0) : answer.cmd
    await client.received(count)
  }
}

export function commands(client: RawClient): unknown[] {
  return client.packets.flatMap((packet) =>
    packet.cmd === 'publish' ? [[packet.topic, readPayload(Buffer.from(packet.payload))]] : [],
  )
}

/** What was stored since the last look: device, kind, and each element as time, key and value. */
export function stored({ gateway }: NodeBench): unknown[] {
  return gateway.uploads
    .splice(0)
    .map(({ device, kind, groups }) => [
      device,
      kind,
      ...groups.flatMap(({ ts, entries }) => entries.map(({ key, value }) => [ts, key, value])),
    ])
}

export const NBIRTH: SentPayload = {
  timestamp: 10,
  seq: 0,
  metrics: [
    { name: 'bdSeq', datatype: 4, long_value: 3, timestamp: 10 },
    { name: 'Node Control/Rebirth', alias: 1, datatype: 11, boolean_value: false, timestamp: 10 },
    { name: 'speed', alias: 2, datatype: 1, int_value: 255, timestamp: 11 },
    { name: 'serial', datatype: 12, string_value: 'S1', timestamp: 12 },
  ],
}
export const DBIRTH: SentPayload = {
  timestamp: 20,
  seq: 1,
  metrics: [
    { name: 'temperature', alias: 3, datatype: 10, double_value: 20.5, timestamp: 21 },
    { name: 'target', alias: 4, datatype: 3, int_value: 4_294_967_295, timestamp: 22 },
    { name: 'conf/mode', datatype: 12, string_value: 'eco', timestamp: 23 },
  ],
}

export async function born(opened: NodeBench): Promise<void> {
  assert.equal(await answered(opened.node, 'NODE/NBIRTH/node', NBIRTH), 0)
  assert.equal(await answered(opened.node, 'NODE/DBIRTH/node/D', DBIRTH), 0)
  stored(opened)
}

export const data = (seq: number, ...metrics: readonly SentMetric[]): SentPayload => ({ timestamp: 30, seq, metrics })
