/**
 * How a kind of integration is declared: its configuration, where its secrets stand, and how what it collects from is opened. A kind is
 * one file in `kinds/` and one line in `catalogue.ts`.
 */
import type { SecureContext } from 'node:tls'
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { SecretShape } from '../../model/secret-members.ts'
import type { AddressGuard } from '../outbound/address-guard.ts'
import { IntegrationErrors } from './errors.ts'
import type { OperatorRules } from './operator-rules.ts'
import type { SourceShares } from './source-shares.ts'

/** What came at once: a message, a request, a line, a record. */
export interface Frame {
  readonly payload: Buffer
  /** What the source knows beside the payload, such as the topic. */
  readonly metadata: Readonly<Record<string, string>>
}

/** Told once. The source may be told that it was taken only then. */
export interface FrameReceipt {
  /** All that the frame said is durable; or it failed for good and was noted: offering it again mends nothing. */
  done(failure: MillraceError | undefined): void
  /** Nothing is certain: to be offered again later. */
  again(reason: MillraceError): void
}

/** Where a source puts what it collects. */
export interface Inlet {
  /** False: there is no room, and the frame was not taken. `onRoom` calls when there is some. */
  take(frame: Frame, receipt: FrameReceipt): boolean
  /** Counts a frame that is longer than `maxFrameBytes` and was not read: whoever sends it again sends the same. */
  skipped(bytes: number): void
  /** Calls back once, when there is room for the frame that was not taken last: to be called in the same step. */
  onRoom(listener: () => void): void
  /** Counts a frame that had to be dropped, since who sent it cannot be made to wait. */
  lost(bytes: number, reason: MillraceError): void
  /** Largest payload in bytes. */
  readonly maxFrameBytes: number
}

/** What a source keeps over its restarts, such as how far it read; durable when `write` resolves. */
export interface Positions {
  read(name: string): Promise<JsonValue | undefined>
  write(name: string, value: JsonValue): Promise<void>
}

export interface SourceParts<Configuration> {
  readonly configuration: Configuration
  /** Of the integration: the same in each process and after each restart. */
  readonly id: string
  readonly tenantId: string
  readonly inlet: Inlet
  /** Every connection goes to an address that it answered. */
  readonly guard: AddressGuard
  readonly clock: Clock
  readonly positions: Positions
  readonly shares: SourceShares
  /** What a port shows whose senders speak TLS, as it is now; undefined: the operator names no certificate. */
  readonly secureContext: (() => SecureContext) | undefined
  /** Below which each tenant has a folder of its own; undefined: no files are read. */
  readonly root: string | undefined
  /** How far it has come, for the statistics. */
  readonly progress: (json: JsonValue) => void
  /** Whether it is joined to what it collects from; with the reason where it is not. */
  readonly connected: (isConnected: boolean, reason?: Error) => void
}

export interface Source {
  /** Takes no more; what was not acknowledged stays with whoever sent it. Idempotent. */
  close(): Promise<void>
}

interface Declaration<Type extends string, Configuration> {
  readonly type: Type
  /** As people call it. */
  readonly label: string
  readonly configuration: z.ZodType<Configuration>
  /** Beside those whose names are secrets anywhere, such as `password`. */
  readonly secrets: SecretShape
  /** Where its secrets are sent to: at another place they have to be given anew. */
  readonly placeOf: (configuration: Configuration) => string
  /** A good one. */
  readonly example: JsonObject
  /** Throws what the operator does not allow. */
  readonly check?: (configuration: Configuration, rules: OperatorRules) => void
  /** Absent where others come to it. Resolves when it runs; what it is joined to may be away, and is joined as soon as it is there. */
  readonly open?: (parts: SourceParts<Configuration>) => Promise<Source>
}

/** A configuration that was read: what can be done with it. */
export interface ReadConfiguration {
  readonly json: JsonObject
  readonly place: string
  /** Throws what the operator does not allow. */
  check(rules: OperatorRules): void
  /** Undefined where others come to it. */
  readonly open: ((parts: Omit<SourceParts<unknown>, 'configuration'>) => Promise<Source>) | undefined
}

export interface IntegrationDefinition<Type extends string> {
  readonly type: Type
  readonly label: string
  readonly secrets: SecretShape
  readonly example: JsonObject
  /** Throws `INVALID`, which names the member. */
  read(configuration: JsonValue): ReadConfiguration
}

const anyObject = z.record(z.string(), z.json())

export function defineIntegration<Type extends string, Configuration>(
  declaration: Declaration<Type, Configuration>,
): IntegrationDefinition<Type> {
  const { type, label, secrets, example, open } = declaration
  return {
    ...{ type, label, secrets, example },
    read(json) {
      const configuration = parsed(declaration.configuration, json, 'configuration')
      return {
        json: anyObject.parse(configuration),
        place: declaration.placeOf(configuration),
        check: (rules) => declaration.check?.(configuration, rules),
        open: open && ((parts) => open({ ...parts, configuration })),
      }
    },
  }
}

/** Throws `INVALID`, which names the member below `name`. */
export function parsed<Value>(schema: z.ZodType<Value>, json: JsonValue, name: string): Value {
  // Numbers as every reader of JSON has them: no member needs more digits.
  const read = schema.safeParse(JSON.parse(stringifyJson(json)))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw IntegrationErrors.INVALID({
    member: [name, ...(issue?.path ?? [])].join('.'),
    reason: issue?.message ?? 'invalid',
  })
}
