/**
 * Bytes ↔ packets. Frames are cut here (`FrameCursor`), PUBLISH (`publish-view.ts`) and the empty or two-byte packets are read in place
 * because they are the traffic; every other packet goes through mqtt-packet. One parser a protocol version serves all sessions: it is
 * only ever given whole frames, so it has no state of a session.
 */
import mqttPacket from 'mqtt-packet'
import type { IConnectPacket, ISubscribePacket, IUnsubscribePacket, Packet, Parser } from 'mqtt-packet'
import { errorText } from '../../model/errors.ts'
import { Reason, type ReasonCode } from './reason-codes.ts'

export type { IConnectPacket, ISubscribePacket, IUnsubscribePacket, Packet }
export type ProtocolVersion = 3 | 4 | 5

export const PacketType = {
  CONNECT: 1,
  PUBLISH: 3,
  PUBACK: 4,
  PUBREC: 5,
  PUBREL: 6,
  PUBCOMP: 7,
  SUBSCRIBE: 8,
  UNSUBSCRIBE: 10,
  PINGREQ: 12,
  DISCONNECT: 14,
  AUTH: 15,
} as const

/** The client broke the protocol: the connection ends with this reason. */
export class ProtocolViolation extends Error {
  readonly reason: ReasonCode
  constructor(reason: ReasonCode, message: string) {
    super(message)
    this.name = 'ProtocolViolation'
    this.reason = reason
  }
}

const LONGEST_LENGTH_FIELD = 4
/** The longest fixed header of a packet within the usual limit. */
export const FIXED_HEADER_BYTES = 4

// Else the first packet written makes 65,536 buffers, one for each number of two bytes.
mqttPacket.writeToStream.cacheNumbers = false

/** Where the frame that begins at an offset has its body and its end; reused, so nothing is allocated a frame. */
export class FrameCursor {
  bodyStart = 0
  end = 0

  /** False while the frame is not complete. Throws ProtocolViolation for a length that is malformed or over the limit. */
  advance(bytes: Buffer, offset: number, maxRemainingLength: number): boolean {
    let length = 0
    let factor = 1
    for (let index = 1; index <= LONGEST_LENGTH_FIELD; index++) {
      const digit = bytes[offset + index]
      if (digit === undefined) return false
      length += (digit & 0x7f) * factor
      if ((digit & 0x80) === 0) {
        if (length > maxRemainingLength) {
          throw new ProtocolViolation(Reason.PACKET_TOO_LARGE, `packet of ${length} bytes`)
        }
        this.bodyStart = offset + index + 1
        this.end = this.bodyStart + length
        return this.end <= bytes.length
      }
      factor *= 128
    }
    throw new ProtocolViolation(Reason.MALFORMED_PACKET, 'remaining length of more than four bytes')
  }
}

export function uint16(bytes: Buffer, offset: number, end: number): number {
  if (offset + 2 > end) throw malformed('packet too short')
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0)
}

export function malformed(what: string): ProtocolViolation {
  return new ProtocolViolation(Reason.MALFORMED_PACKET, what)
}

/** A parser shared by all sessions of one protocol version. After a broken frame it is made anew: nothing of it stays. */
class FrameParser {
  private readonly version: ProtocolVersion
  private parser: Parser
  private packet: Packet | undefined
  private failure: unknown

  constructor(version: ProtocolVersion) {
    this.version = version
    this.parser = this.newParser()
  }

  decode(frame: Buffer): Packet {
    this.packet = undefined
    this.failure = undefined
    this.parse(frame)
    const packet = this.packet
    this.packet = undefined
    if (packet !== undefined && this.failure === undefined) return packet
    this.parser = this.newParser()
    throw malformed(this.failure === undefined ? 'incomplete packet' : errorText(this.failure))
  }

  private parse(frame: Buffer): void {
    try {
      this.parser.parse(frame)
    } catch (error) {
      // Some broken packets make it read past their end.
      this.failure = error
    }
  }

  private newParser(): Parser {
    const parser = mqttPacket.parser({ protocolVersion: this.version })
    parser.on('packet', (packet) => (this.packet = packet))
    parser.on('error', (error: unknown) => (this.failure = error))
    return parser
  }
}

/** A parser takes on the version of the CONNECT that it reads, so CONNECT has one of its own. */
const connectParser = new FrameParser(4)
const parsers: Readonly<Record<ProtocolVersion, FrameParser>> = {
  3: new FrameParser(3),
  4: new FrameParser(4),
  5: new FrameParser(5),
}

/** One whole frame; no version stands for a CONNECT. Throws ProtocolViolation (MALFORMED_PACKET). */
export function decodePacket(frame: Buffer, version: ProtocolVersion | undefined): Packet {
  return (version === undefined ? connectParser : parsers[version]).decode(frame)
}

export function encodePacket(packet: Packet, version: ProtocolVersion): Buffer {
  return mqttPacket.generate(packet, { protocolVersion: version })
}

export const PINGRESP = Buffer.from([0xd0, 0])
