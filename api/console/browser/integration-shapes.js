/** What a new integration of each kind begins with (docs/guides/integrations.md). */

const OF_PAYLOAD = 'return {deviceName: payload.device, telemetry: payload.telemetry};'
const SAMPLE = '{"device": "station 7", "telemetry": {"temperature": 21.5}}'

/** @type {readonly { type: string, text: string, example: object, script: string, sample: string }[]} */
export const SHAPES = [
  { type: 'HTTP', text: 'a webhook: others send to this server', example: {}, script: OF_PAYLOAD, sample: SAMPLE },
  {
    type: 'MQTT',
    text: 'another MQTT broker',
    example: { host: 'broker.example', port: 1883, topics: [{ filter: 'plant/+/measurement', qos: 1 }] },
    script: 'return {deviceName: metadata.topic, telemetry: payload};',
    sample: '{"temperature": 21.5}',
  },
  {
    type: 'KAFKA',
    text: 'topics of Kafka',
    example: { brokers: ['broker.example:9092'], topics: ['measurements'] },
    script: OF_PAYLOAD,
    sample: SAMPLE,
  },
  {
    type: 'TCP',
    text: 'a TCP port of this server',
    example: { port: 5000, framing: { type: 'LINE' }, answer: 'OK\n' },
    script: OF_PAYLOAD,
    sample: SAMPLE,
  },
  { type: 'UDP', text: 'a UDP port of this server', example: { port: 5000 }, script: OF_PAYLOAD, sample: SAMPLE },
  {
    type: 'FILE',
    text: 'files in a folder of this server',
    example: { folder: 'meters', format: 'CSV' },
    script: 'return {deviceName: payload.device, telemetry: {temperature: payload.temperature}};',
    sample: '{"device": "meter 1", "temperature": "21.5"}',
  },
]

/** @param {string} type */
export function sampleOf(type) {
  return SHAPES.find((shape) => shape.type === type)?.sample ?? SAMPLE
}
