/** What a Protobuf message is made of, as far as messages of the platform itself need it (proto3). */

export type ScalarType = 'string' | 'int32' | 'int64' | 'double' | 'bool' | 'enum'

export interface Field {
  readonly name: string
  readonly type: ScalarType | MessageType | ListType
}

/** Any number of them. */
export interface ListType {
  readonly of: 'string' | MessageType
}

/** Its fields by number. */
export type MessageType = ReadonlyMap<number, Field>

/** What a message holds by the names of its fields; of fields that come twice the last, as proto3 has it; of lists all. */
export type Message = ReadonlyMap<string, MessageValue>
export type MessageValue = string | number | bigint | boolean | Message | readonly (string | Message)[]

/** `number: [name, type]`. */
export function messageType(fields: Readonly<Record<number, readonly [string, Field['type']]>>): MessageType {
  return new Map(Object.entries(fields).map(([number, [name, type]]) => [Number(number), { name, type }]))
}

export function isMessage(value: MessageValue | undefined): value is Message {
  return value instanceof Map
}

export function isList(value: MessageValue): value is readonly (string | Message)[] {
  return Array.isArray(value)
}

export function listType(of: ListType['of']): ListType {
  return { of }
}

/** The messages of a list; none where it is not there. */
export function listOf(message: Message, name: string): readonly Message[] {
  const value = message.get(name)
  return value !== undefined && isList(value) ? value.filter(isMessage) : []
}

/** Empty where it is not there, the default of proto3. */
export function textOf(message: Message, name: string): string {
  const value = message.get(name)
  return typeof value === 'string' ? value : ''
}

/** 0 where it is not there. */
export function numberOf(message: Message, name: string): number {
  const value = message.get(name)
  return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : 0
}
