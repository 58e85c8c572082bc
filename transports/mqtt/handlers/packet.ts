/** One whole packet to its handler. The packets that are the traffic are read in place, the others decoded. */
import { PINGRESP, PacketType, ProtocolViolation, decodePacket, malformed, uint16 } from '../codec.ts'
import type { MqttConnection } from '../connection.ts'
import {
  checkDisconnectProperties,
  checkSubscribeProperties,
  checkUnsubscribeProperties,
} from '../packet-properties.ts'
import { Reason } from '../reason-codes.ts'
import { handleConnect } from './connect.ts'
import { handlePublish, releasePublish } from './publish.ts'
import { pushAcknowledged } from './push.ts'
import { handleSubscribe, handleUnsubscribe } from './subscribe.ts'

const PUBREL_FLAGS = 2

/** Throws ProtocolViolation. */
export function handlePacket(
  session: MqttConnection,
  bytes: Buffer,
  start: number,
  bodyStart: number,
  end: number,
): void {
  const first = bytes[start] ?? 0
  const type = first >> 4
  if (session.phase === 'NEW') return handleConnect(session, bytes.subarray(start, end))
  switch (type) {
    case PacketType.PUBLISH:
      return handlePublish(session, bytes, start, bodyStart, end)
    case PacketType.PUBACK:
      requireFlags(first, 0)
      return pushAcknowledged(session, uint16(bytes, bodyStart, end))
    case PacketType.PUBREL:
      requireFlags(first, PUBREL_FLAGS) // [MQTT-3.6.1-1]
      return releasePublish(session, uint16(bytes, bodyStart, end))
    case PacketType.PINGREQ:
      requireFlags(first, 0)
      if (end > bodyStart) throw malformed('PINGREQ with a body')
      session.device?.touch()
      return session.sendBytes(PINGRESP) // [MQTT-3.12.4-1]
    case PacketType.DISCONNECT:
      requireFlags(first, 0) // [MQTT-3.14.1-1]
      if (session.version === 5 && end > bodyStart) readDisconnect(session, bytes.subarray(start, end))
      return session.close(undefined)
    default:
      return handleDecoded(session, bytes.subarray(start, end))
  }
}

/** MQTT 5 says there how long its session is to be kept. Throws ProtocolViolation. */
function readDisconnect(session: MqttConnection, frame: Buffer): void {
  checkDisconnectProperties(frame)
  const packet = decodePacket(frame, session.version)
  const seconds = packet.cmd === 'disconnect' ? packet.properties?.sessionExpiryInterval : undefined
  if (seconds === undefined) return
  // One that was to end with the connection is not kept after all. [MQTT-3.14.2-2]
  if (!session.wasKeptAsked && seconds > 0)
    throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'a Session Expiry Interval, though it was 0')
  session.kept?.expiresAfter(seconds)
}

/** Judged by the first byte alone: another protocol's client is not waited for. [MQTT-3.1.0-1] */
export function requireConnect(firstByte: number | undefined): void {
  if (firstByte !== PacketType.CONNECT << 4) {
    throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'the first packet is no CONNECT')
  }
}

function handleDecoded(session: MqttConnection, frame: Buffer): void {
  const packet = decodePacket(frame, session.version)
  switch (packet.cmd) {
    case 'subscribe':
      if (session.version === 5) checkSubscribeProperties(frame)
      return handleSubscribe(session, packet)
    case 'unsubscribe':
      if (session.version === 5) checkUnsubscribeProperties(frame)
      return handleUnsubscribe(session, packet)
    case 'connect': // [MQTT-3.1.0-2]
      throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'a second CONNECT')
    default:
      throw new ProtocolViolation(Reason.PROTOCOL_ERROR, `a client may not send ${packet.cmd.toUpperCase()} here`)
  }
}

function requireFlags(first: number, flags: number): void {
  if ((first & 0x0f) !== flags) throw malformed('reserved flags of the fixed header')
}
