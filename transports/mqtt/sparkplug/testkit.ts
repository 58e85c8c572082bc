/** For tests of Sparkplug: its messages by the Protobuf library's own writer and reader, from the fields that the specification names. */
import protobuf from 'protobufjs'
import { deviceNamed } from '../../testkit.ts'
import { openMqttBench, type MqttBench, type RawClient } from '../testkit.ts'
import type { MqttLimits } from '../limits.ts'

const { root } = protobuf.parse(
  `syntax = "proto3";
  message DataSet { uint64 num_of_columns = 1; repeated string columns = 2; repeated uint32 types = 3; }
  message MetaData { bool is_multi_part = 1; string content_type = 2; }
  message Metric {
    string name = 1; uint64 alias = 2; uint64 timestamp = 3; uint32 datatype = 4;
    bool is_historical = 5; bool is_transient = 6; bool is_null = 7; MetaData metadata = 8;
    oneof value {
      uint32 int_value = 10; uint64 long_value = 11; float float_value = 12; double double_value = 13;
      bool boolean_value = 14; string string_value = 15; bytes bytes_value = 16; DataSet dataset_value = 17;
    }
  }
  message Payload { uint64 timestamp = 1; repeated Metric metrics = 2; uint64 seq = 3; string uuid = 4; bytes body = 5; }`,
  { keepCase: true },
)
const payloadType = root.lookupType('Payload')

export interface SentMetric {
  readonly name?: string
  readonly alias?: number
  readonly timestamp?: number
  readonly datatype?: number
  readonly is_null?: boolean
  readonly int_value?: number
  readonly long_value?: number | string
  readonly float_value?: number
  readonly double_value?: number
  readonly boolean_value?: boolean
  readonly string_value?: string
  readonly bytes_value?: Buffer
  readonly dataset_value?: object
}

export interface SentPayload {
  readonly timestamp?: number
  readonly seq?: number
  readonly metrics?: readonly SentMetric[]
}

export function payloadBytes(payload: SentPayload): Buffer {
  return Buffer.from(payloadType.encode(payloadType.fromObject(payload)).finish())
}

/** As plain values; times are left out. */
export function readPayload(bytes: Buffer): unknown {
  const { metrics } = payloadType.toObject(payloadType.decode(bytes), { longs: Number, arrays: true }) as {
    metrics: Record<string, unknown>[]
  }
  return metrics.map(({ timestamp: _timestamp, ...metric }) => metric)
}

export const NODE = 'spBv1.0/plant'

export function willOf(bdSeq: number) {
  return {
    topic: `${NODE}/NDEATH/node`,
    payload: payloadBytes({ timestamp: 5, metrics: [{ name: 'bdSeq', datatype: 4, long_value: bdSeq, timestamp: 5 }] }),
    qos: 1 as const,
    retain: false,
  }
}

export interface NodeBench extends MqttBench {
  readonly node: RawClient
}

/** An edge node that is connected; its device is `one`, its metrics with names that begin with `conf/` are attributes. */
export async function openNodeBench(version: 4 | 5 = 5, limits: Partial<MqttLimits> = {}): Promise<NodeBench> {
  const opened = await openMqttBench(limits)
  const sparkplug = { attributesMetricNames: ['conf/*', 'serial'] }
  const mqtt = {
    telemetryTopic: 'v1/devices/me/telemetry',
    attributesTopic: 'v1/devices/me/attributes',
    attributesSubscribeTopic: 'v1/devices/me/attributes',
    acknowledgesUndecodable: false,
    sparkplug,
  }
  opened.gateway.lookUp = () => ({ ...deviceNamed('one'), deviceType: 'line', mqtt })
  const node = await opened.client(version)
  await node.login('one', loginOf(version))
  return { ...opened, node }
}

export function loginOf(version: 4 | 5) {
  return { will: willOf(3), ...(version === 5 ? { properties: { sessionExpiryInterval: 0 } } : {}) }
}
