/** What a device profile says of MQTT (`device-api.md` 3.6): one object for all devices of the profile, a new one when it changes. */

/** Its devices are edge nodes of Sparkplug B. */
export interface SparkplugProfile {
  /** Metrics that are shared attributes: names, or beginnings with `*` behind them. */
  readonly attributesMetricNames: readonly string[]
}

/** The key of telemetry that says whether an edge node, or a device of one, is connected. */
export const CONNECTION_STATE = 'sparkplugConnectionState'

export interface MqttProfile {
  /** Filters: `+` is one level, `#` at the end that level and all below. They take the place of the topics of version 1. */
  readonly telemetryTopic: string
  readonly attributesTopic: string
  /** What else may be subscribed to for changes of shared attributes. */
  readonly attributesSubscribeTopic: string
  /** Whether a payload that cannot be decoded is acknowledged to clients of MQTT 3, which otherwise lose the connection. */
  readonly acknowledgesUndecodable: boolean
  readonly sparkplug?: SparkplugProfile
}

/** Of profiles that say nothing else. */
export const STANDARD_MQTT: MqttProfile = Object.freeze({
  telemetryTopic: 'v1/devices/me/telemetry',
  attributesTopic: 'v1/devices/me/attributes',
  attributesSubscribeTopic: 'v1/devices/me/attributes',
  acknowledgesUndecodable: false,
})
