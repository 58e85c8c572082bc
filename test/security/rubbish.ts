/** Generated rubbish, each piece with what must be answered. All of it is certainly wrong: nothing here could be taken for data. */
import mqttPacket from 'mqtt-packet'
import type { SeededRandom } from '../support/seeded-random.ts'

const BAD_VALUES = ['{', '[', '"', "'x", ']', '}', 'a b', '', '/*', '\\u0041', '"\\x"', '"\\u12"', '1,', ':1']

/** A payload that is no telemetry: no JSON, JSON of a wrong shape, a bomb, or bytes that are no text. */
export function badPayload(random: SeededRandom): Buffer {
  const value = random.pick(BAD_VALUES)
  switch (random.between(0, 9)) {
    case 0:
      return Buffer.from(`{"a":${value}}`)
    case 1:
      return Buffer.from(`{"a":1,"b":${value}`)
    case 2:
      return Buffer.from(`{"a":${random.between(0, 999)}`.slice(0, random.between(1, 6)))
    case 3:
      return Buffer.from(
        random.pick(['5', '"x"', 'null', 'true', '[1]', '["a"]', '[null]', '[[]]', '[{"a":1},2]', '-0.5']),
      )
    case 4:
      return Buffer.from(random.pick(['[', '{"a":', '[{"a":']).repeat(random.between(100, 3000)))
    case 5: {
      const depth = random.between(200, 3000)
      return Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    }
    case 6:
      return Buffer.concat([Buffer.from('{"a":"'), Buffer.from([random.between(0x80, 0xbf), 0xff]), Buffer.from('"}')])
    case 7:
      return Buffer.from(`{"ts":${random.pick(['null', 'true', '{}', '"x"', '[]', '1e400'])},"values":{"a":1}}`)
    case 8:
      return Buffer.from(`{"ts":1,"values":${random.pick(['5', 'null', '[1]', '"x"', 'true'])}}`)
    default:
      return Buffer.from(`{"a":1}${random.pick(['x', '}', ',', '{"b":2}', '\0', '[]'])}`)
  }
}

/** A token that nobody has. Never empty, never dots alone: those are other paths. */
export function badToken(random: SeededRandom): string {
  const pieces = [
    "' OR 1=1 --",
    '%00',
    '%2e%2e%2f',
    'é',
    '\u0001',
    '😀',
    '"',
    '<script>',
    'x'.repeat(300),
    '*',
    '#',
    '+',
    '$',
    '-',
  ]
  let token = 't'
  for (let count = random.between(1, 4); count > 0; count--) token += random.pick(pieces) + random.between(0, 1e6)
  return token
}

/** A topic that this platform does not have. */
export function badTopic(random: SeededRandom): string {
  const start = random.pick([
    'v1/devices/me',
    'v1/devices/me/telemetry/',
    'v3/t',
    '$SYS',
    '/',
    'v2/t/x',
    'a',
    '$share/g/v2/t',
  ])
  return `${start}/${random.between(0, 1e9)}`.repeat(random.between(1, 3))
}

export function badFilter(random: SeededRandom): string {
  return random.pick([
    '#',
    '+',
    '+/+',
    'v1/#',
    'v1/devices/+/telemetry',
    'v2/a/x',
    '$SYS/#',
    `v2/${random.between(0, 1e9)}`,
  ])
}

export function randomBytes(random: SeededRandom, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.between(0, 255)))
}

/** Whole MQTT packets with some bytes changed. */
export function brokenPacket(random: SeededRandom): Buffer {
  const publish = {
    cmd: 'publish',
    topic: 'v1/devices/me/x',
    payload: '{}',
    qos: 1,
    messageId: 5,
    dup: false,
    retain: false,
  }
  const bytes = mqttPacket.generate(
    random.pick([
      publish as Parameters<typeof mqttPacket.generate>[0],
      { cmd: 'subscribe', messageId: 3, subscriptions: [{ topic: 'v2/zzz', qos: 1 }] },
      { cmd: 'unsubscribe', messageId: 4, unsubscriptions: ['v2/zzz'] },
      { cmd: 'puback', messageId: 1 },
      { cmd: 'pubrel', messageId: 9 },
      { cmd: 'pingreq' },
    ]),
  )
  for (let count = random.between(1, 4); count > 0; count--) {
    bytes[random.between(0, bytes.length - 1)] = random.between(0, 255)
  }
  return bytes
}
