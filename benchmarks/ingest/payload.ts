/** What a device sends at a time of its own: the time tells the values, so that whoever reads them back knows what they must be. */
export const KEYS = ['temperature', 'humidity', 'pressure'] as const
export type Key = (typeof KEYS)[number]

export function valuesAt(time: number): Readonly<Record<Key, number>> {
  return { temperature: (time % 400) / 10, humidity: time % 100, pressure: 1000 + (time % 50) }
}

export function jsonOf(time: number): string {
  return `{"ts":${time},"values":${JSON.stringify(valuesAt(time))}}`
}

export const PROTOBUF_SCHEMA = `syntax = "proto3";
message Telemetry {
  message Values {
    optional double temperature = 1;
    optional double humidity = 2;
    optional double pressure = 3;
  }
  optional int64 ts = 1;
  optional Values values = 2;
}`

const VARINT = 0
const LENGTH = 2
const FIXED64 = 1
const tag = (field: number, kind: number): number => (field << 3) | kind

/** The same in `PROTOBUF_SCHEMA`, a character a byte (`latin1`). */
export function protobufOf(time: number): string {
  const bytes: number[] = [tag(1, VARINT)]
  let rest = time
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  bytes.push(rest, tag(2, LENGTH), KEYS.length * 9)
  const values = valuesAt(time)
  const number = Buffer.alloc(8)
  for (const [index, key] of KEYS.entries()) {
    number.writeDoubleLE(values[key])
    bytes.push(tag(index + 1, FIXED64), ...number)
  }
  return Buffer.from(bytes).toString('latin1')
}
