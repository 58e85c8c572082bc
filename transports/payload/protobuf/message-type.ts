/** What a Protobuf message is made of, as far as messages of the platform itself need it (proto3). */

export type ScalarType = 'string' | 'int32' | 'int64' | 'double' | 'bool' | 'enum'

export interface Field {
  readonly name: string
  readonly type: ScalarType | MessageType
}

/** Its fields by number. */
export type MessageType = ReadonlyMap<number, Field>

/** What a message holds by the names of its fields; of fields that come twice the last, as proto3 has it. */
export type Message = ReadonlyMap<string, MessageValue>
export type MessageValue = string | number | bigint | boolean | Message

/** `number: [name, type]`. */
export function messageType(fields: Readonly<Record<number, readonly [string, Field['type']]>>): MessageType {
  return new Map(Object.entries(fields).map(([number, [name, type]]) => [Number(number), { name, type }]))
}
