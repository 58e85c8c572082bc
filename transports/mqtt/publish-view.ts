/** A PUBLISH read in place, without a string or an object for each of them. Source: MQTT 5 section 3.3. */
import { malformed, uint16, type ProtocolVersion } from './codec.ts'
import { PublishProperties } from './publish-properties.ts'

/** The parts of a PUBLISH that matter here, read in place; reused. */
export class PublishView {
  private readonly properties = new PublishProperties()
  qos: 0 | 1 | 2 = 0
  topicStart = 0
  topicEnd = 0
  messageId = 0
  payloadStart = 0
  /** 0: the publish has none. */
  topicAlias = 0

  /** MQTT 3.3. Throws ProtocolViolation. */
  read(bytes: Buffer, frameStart: number, bodyStart: number, end: number, version: ProtocolVersion): void {
    const qos = ((bytes[frameStart] ?? 0) >> 1) & 3
    if (qos === 3) throw malformed('both QoS bits set') // [MQTT-3.3.1-4]
    this.qos = qos as 0 | 1 | 2
    this.topicStart = bodyStart + 2
    this.topicEnd = this.topicStart + uint16(bytes, bodyStart, end)
    let position = this.topicEnd
    if (position > end) throw malformed('topic longer than the packet')
    if (qos > 0) {
      this.messageId = uint16(bytes, position, end)
      if (this.messageId === 0) throw malformed('packet identifier 0') // [MQTT-2.2.1-3]
      position += 2
    }
    this.topicAlias = 0
    if (version === 5) position = this.behindProperties(bytes, position, end)
    this.payloadStart = position
  }

  private behindProperties(bytes: Buffer, position: number, end: number): number {
    // Nearly every publish.
    if (position < end && bytes[position] === 0) return position + 1
    this.properties.read(bytes, position, end)
    this.topicAlias = this.properties.topicAlias
    return this.properties.end
  }
}
