/** The topics that a device profile gives in place of those of version 1, compiled once a profile. Source: `device-api.md` 3.6. */
import { STANDARD_MQTT, type MqttProfile } from '../../engine/device/gateway.ts'
import { uplinkOf, type Uplink } from './topics.ts'

const TELEMETRY: Uplink = { kind: 'TELEMETRY', form: 'PROFILE' }
const ATTRIBUTES: Uplink = { kind: 'ATTRIBUTES', form: 'PROFILE' }
const UNKNOWN: Uplink = { kind: 'UNKNOWN' }

export class CustomTopics {
  private static readonly compiled = new WeakMap<MqttProfile, CustomTopics>()

  private readonly telemetry: TopicFilter
  private readonly attributes: TopicFilter
  private readonly subscribe: TopicFilter

  private constructor(profile: MqttProfile) {
    this.telemetry = new TopicFilter(profile.telemetryTopic)
    this.attributes = new TopicFilter(profile.attributesTopic)
    this.subscribe = new TopicFilter(profile.attributesSubscribeTopic)
  }

  static of(profile: MqttProfile): CustomTopics {
    let topics = CustomTopics.compiled.get(profile)
    if (topics === undefined) {
      topics = new CustomTopics(profile)
      CustomTopics.compiled.set(profile, topics)
    }
    return topics
  }

  /** Gateway topics first, then these, attributes before telemetry; what they replace is unknown. */
  uplinkOf(topic: string): Uplink {
    const standard = uplinkOf(topic)
    if (standard.kind === 'GATEWAY') return standard
    if (this.attributes.matches(topic)) return ATTRIBUTES
    if (this.telemetry.matches(topic)) return TELEMETRY
    return topic === STANDARD_MQTT.telemetryTopic || topic === STANDARD_MQTT.attributesTopic ? UNKNOWN : standard
  }

  /** Whether changes of shared attributes may be subscribed to with this text. */
  isSubscribable(filter: string): boolean {
    return this.subscribe.matches(filter)
  }
}

class TopicFilter {
  private readonly text: string
  private readonly levels: readonly string[]
  private readonly isOpen: boolean
  private readonly isExact: boolean

  constructor(text: string) {
    const levels = text.split('/')
    this.text = text
    this.isOpen = levels.at(-1) === '#'
    this.levels = this.isOpen ? levels.slice(0, -1) : levels
    this.isExact = !this.isOpen && !levels.includes('+')
  }

  matches(topic: string): boolean {
    if (this.isExact) return topic === this.text
    const parts = topic.split('/')
    if (this.isOpen ? parts.length < this.levels.length : parts.length !== this.levels.length) return false
    return this.levels.every((level, index) => (level === '+' ? parts[index] !== '' : parts[index] === level))
  }
}
