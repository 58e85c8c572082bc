/**
 * The properties of a PUBLISH, read in place: a device that sends its topic as an alias has some in each of its publishes.
 * Only the alias means something here; of the others the form is checked. Source: MQTT 5 section 3.3.2.3.
 */
import { ProtocolViolation, malformed, uint16 } from './codec.ts'
import { Reason } from './reason-codes.ts'

const PAYLOAD_FORMAT = 0x01
const MESSAGE_EXPIRY = 0x02
const CONTENT_TYPE = 0x03
const RESPONSE_TOPIC = 0x08
const CORRELATION_DATA = 0x09
const SUBSCRIPTION_IDENTIFIER = 0x0b
const TOPIC_ALIAS = 0x23
const USER_PROPERTY = 0x26

const LONGEST_LENGTH = 4

export class PublishProperties {
  /** 0: there is none. */
  topicAlias = 0
  /** Where the payload begins. */
  end = 0

  /** `position`: of their length. Throws ProtocolViolation. */
  read(bytes: Buffer, position: number, packetEnd: number): void {
    this.topicAlias = 0
    let length = 0
    let factor = 1
    let at = position
    for (let digit = 0x80; digit >= 0x80; factor *= 128) {
      if (at - position === LONGEST_LENGTH || at >= packetEnd) throw malformed('length of the properties')
      digit = bytes[at++] ?? 0
      length += (digit & 0x7f) * factor
    }
    this.end = at + length
    if (this.end > packetEnd) throw malformed('properties longer than the packet')
    let seen = 0
    while (at < this.end) {
      const id = bytes[at++] ?? 0
      if (id !== USER_PROPERTY && id < 32 && (seen & (1 << id)) !== 0) throw twice(id)
      if (id === TOPIC_ALIAS && this.topicAlias !== 0) throw twice(id)
      if (id < 32) seen |= 1 << id
      at = this.readOne(bytes, id, at)
    }
    if (at !== this.end) throw malformed('property longer than the properties')
  }

  /** Where the next one begins. */
  private readOne(bytes: Buffer, id: number, at: number): number {
    const { end } = this
    switch (id) {
      case PAYLOAD_FORMAT:
        if (at < end && (bytes[at] ?? 0) > 1) throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'payload format')
        return at + 1
      case MESSAGE_EXPIRY:
        return at + 4
      case CONTENT_TYPE:
      case RESPONSE_TOPIC:
      case CORRELATION_DATA:
        return behindText(bytes, at, end)
      case USER_PROPERTY:
        return behindText(bytes, behindText(bytes, at, end), end)
      case TOPIC_ALIAS:
        this.topicAlias = uint16(bytes, at, end)
        if (this.topicAlias === 0) throw new ProtocolViolation(Reason.TOPIC_ALIAS_INVALID, 'topic alias 0') // [MQTT-3.3.2-8]
        return at + 2
      case SUBSCRIPTION_IDENTIFIER: // [MQTT-3.3.4-6]
        throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'a client may not send a subscription identifier here')
      default:
        throw malformed(`property ${id} of a PUBLISH`)
    }
  }
}

function behindText(bytes: Buffer, at: number, end: number): number {
  return at + 2 + uint16(bytes, at, end)
}

function twice(id: number): ProtocolViolation {
  return new ProtocolViolation(Reason.PROTOCOL_ERROR, `property ${id} twice`)
}
