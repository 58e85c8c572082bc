/**
 * How the devices of a profile speak Protobuf (`device-api.md` 5.1, 5.2): its schemas as plain tables, one object for all devices of the
 * profile, a new one when it changes.
 */

export const SCALAR_KINDS = [
  ...(['double', 'float', 'int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64'] as const),
  ...(['fixed32', 'fixed64', 'sfixed32', 'sfixed64', 'bool', 'string', 'bytes'] as const),
] as const
export type ScalarKind = (typeof SCALAR_KINDS)[number]

export type SchemaFieldType =
  | { readonly kind: 'scalar'; readonly scalar: ScalarKind }
  /** A place in `PayloadSchema.types`: messages may hold themselves. */
  | { readonly kind: 'message'; readonly type: number }
  /** The first one is the default. */
  | { readonly kind: 'enum'; readonly values: readonly (readonly [name: string, number: number])[] }

export interface SchemaField {
  readonly number: number
  /** As the schema has it. */
  readonly name: string
  /** As canonical JSON has it: `lowerCamelCase`. */
  readonly key: string
  readonly type: SchemaFieldType
  readonly isRepeated: boolean
  /** What is not there has no default: `optional`, of a `oneof`, a message. */
  readonly hasPresence: boolean
  /** Numbers of the other fields of its `oneof`. */
  readonly rivals: readonly number[]
}

/** Fields by number, in the order of their numbers. */
export type SchemaType = ReadonlyMap<number, SchemaField>

export interface PayloadSchema {
  readonly types: readonly SchemaType[]
  /** The place of the message that payloads are. */
  readonly root: number
}

export interface DevicePayloads {
  /** Undefined where the profile has none that can be used: such uploads cannot be decoded. */
  readonly telemetry: PayloadSchema | undefined
  readonly attributes: PayloadSchema | undefined
  readonly call: PayloadSchema | undefined
  readonly callAnswer: PayloadSchema | undefined
  /** Where an upload is no such message it is read as JSON. */
  readonly readsJson: boolean
  /** What goes down on the topics of version 1 is JSON. */
  readonly writesJsonByDefault: boolean
}
