/** The will that makes a client an edge node: its NDEATH. Source: `device-api.md` 14, Sparkplug 3.0 section 5.4. */
import { isMillraceError } from '../../../model/errors.ts'
import type { IConnectPacket } from '../codec.ts'
import type { SparkplugDecoder, SparkplugPayload } from './payload.ts'
import { parseTopic, type NodeName } from './topics.ts'

export interface NodeWill {
  readonly name: NodeName
  readonly payload: SparkplugPayload
}

/** Undefined where the CONNECT is none of an edge node. */
export function willOf(packet: IConnectPacket, decoder: SparkplugDecoder): NodeWill | undefined {
  const { will, clean, protocolVersion, properties } = packet
  if (will?.qos !== 1 || will.retain || clean !== true) return undefined
  // [tck-id-message-flow-edge-node-birth-publish-connect] for MQTT 5: no session is to be kept.
  if (protocolVersion === 5 && properties?.sessionExpiryInterval !== 0) return undefined
  const topic = parseTopic(will.topic)
  if (topic?.type !== 'NDEATH') return undefined
  const { group, node } = topic
  try {
    const payload = decoder.decode(Buffer.from(will.payload))
    // No birth was, and so an alias stands for nothing.
    return payload.metrics.every((metric) => metric.name !== undefined) ? { name: { group, node }, payload } : undefined
  } catch (error) {
    // What can not be decoded is no will of an edge node; the CONNACK tells the client.
    if (!isMillraceError(error)) throw error
    return undefined
  }
}
