/**
 * The topics that one MQTT 5 connection has given numbers. They end with it [MQTT-3.3.2-7], and what they take is counted for its tenant.
 * Only where there is room for one more connection's is it allowed any, so that who has been told so rarely finds none.
 */
import type { TenantShares } from '../tenant-shares.ts'
import { ProtocolViolation } from './codec.ts'
import type { MqttLimits } from './limits.ts'
import { Reason } from './reason-codes.ts'

/** Of one alias beside its text: an entry of the map and the head of a string. */
const ENTRY_BYTES = 64
const BYTES_PER_CHARACTER = 2

export class TopicAliases {
  private readonly limits: MqttLimits
  private readonly shares: TenantShares
  private readonly tenantId: string
  private readonly topics = new Map<number, string>()
  private bytes = 0

  constructor(limits: MqttLimits, shares: TenantShares, tenantId: string) {
    this.limits = limits
    this.shares = shares
    this.tenantId = tenantId
  }

  /** Topic Alias Maximum of a new connection of the tenant; 0: it is to send whole topics. */
  static maximumFor({ maxTopicAliases, maxAliasBytesPerSession }: MqttLimits, shares: TenantShares, tenantId: string) {
    return shares.hasRoom(tenantId, maxAliasBytesPerSession) ? maxTopicAliases : 0
  }

  /** Throws ProtocolViolation where the alias was never given. */
  topicOf(alias: number): string {
    const topic = this.topics.get(alias)
    if (topic === undefined) throw new ProtocolViolation(Reason.PROTOCOL_ERROR, `topic alias ${alias} has no topic`)
    return topic
  }

  /** The alias stands for this topic from now on. Throws ProtocolViolation (QUOTA_EXCEEDED). */
  set(alias: number, topic: string): void {
    const former = this.topics.get(alias)
    if (former === topic) return
    const more = bytesOf(topic) - (former === undefined ? 0 : bytesOf(former))
    if (more > 0) this.take(more)
    else this.give(-more)
    this.topics.set(alias, topic)
  }

  release(): void {
    this.give(this.bytes)
    this.topics.clear()
  }

  private take(bytes: number): void {
    if (this.bytes + bytes > this.limits.maxAliasBytesPerSession || !this.shares.take(this.tenantId, bytes))
      throw new ProtocolViolation(Reason.QUOTA_EXCEEDED, 'topic aliases take too much memory')
    this.bytes += bytes
  }

  private give(bytes: number): void {
    if (bytes === 0) return
    this.shares.give(this.tenantId, bytes)
    this.bytes -= bytes
  }
}

function bytesOf(topic: string): number {
  return ENTRY_BYTES + topic.length * BYTES_PER_CHARACTER
}
