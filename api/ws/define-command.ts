/**
 * A WebSocket command as a declaration: its type, what it takes, what it starts, and how it ends. Envelopes of both endpoints, validation and
 * the answer to what goes wrong follow from it. Source: `websocket-api.md` 3.
 */
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Log } from '../../model/log.ts'
import type { Principal } from '../../model/principal.ts'
import type { Operation } from '../../services/access/permissions.ts'
import type { FollowedEntities } from './followed-entities.ts'
import type { ReadServices } from './read-services.ts'
import type { SessionReads } from './read-turns.ts'
import type { SubscriptionHost } from './subscription.ts'

/** Of things that are there. */
export type Ids = Readonly<Record<string, string>>

/**
 * Commands among which an id means one: a client may number each of these kinds for itself, as with the reference, which keeps them apart.
 */
export type LiveKind = 'time-series' | 'attributes' | 'query' | 'inbox'

/** What goes on after a command, under its id. */
export interface LiveCommand {
  readonly cmdId: number
  readonly liveKind: LiveKind
  /** It counts for the subscriptions that a tenant's profile allows. */
  readonly isSubscription?: boolean
  close(): void
}

/** The live commands of a session: who may have one more, and which one a command id means. */
export interface LiveCommands {
  /** Takes the place of what has the same id among its kind. False where the limit is reached: the session is then closed. */
  add(live: LiveCommand): boolean
  find(kind: LiveKind, cmdId: number): LiveCommand | undefined
  /** Whether there was one. */
  remove(kind: LiveKind, cmdId: number): boolean
  /** Removes this one, not a later one under the same id. */
  forget(live: LiveCommand): void
}

/** One client's: what its commands work with. */
export interface CommandContext {
  readonly principal: Principal
  /** Reads of history wait for their turn. */
  readonly services: ReadServices
  readonly clock: Clock
  readonly log: Log
  readonly host: SubscriptionHost
  readonly live: LiveCommands
  readonly followed: FollowedEntities
  readonly reads: SessionReads
  /** Throws FETCH_DENIED or ATTRIBUTES_DENIED alike for what is not there and what may not be seen. */
  readonly checkAccess: (entity: EntityId, operation: Operation) => Promise<void>
  /** Answers a command, or what goes on after it, that failed. */
  readonly fail: (cmdId: number, error: unknown) => void
}

export interface CommandDeclaration<Fields extends z.ZodRawShape> {
  readonly type: string
  /** Beside `cmdId`; what is not named refuses the whole frame. */
  readonly fields: Fields
  /** The members of the older envelopes that hold such commands. */
  readonly legacy?: { readonly telemetry?: string; readonly notifications?: string }
  /** Good commands without their ids; ids of things by the names that paths of REST give them. Sent by the walk of the security tests. */
  readonly examples: (ids: Ids) => readonly JsonObject[]
  /** Where it goes well nothing is answered. */
  readonly isSilent?: boolean
  /** Begins at once, in the caller's turn. What it throws is answered under the command's id. */
  readonly start: (
    command: z.output<z.ZodObject<Fields>> & { readonly cmdId: number },
    context: CommandContext,
  ) => Promise<void>
  /** A command of its own ends it. */
  readonly unsubscribe?: Ending
}

interface Ending {
  readonly type: string
  readonly kind: LiveKind
  readonly legacy?: { readonly telemetry?: string }
}

/** A command that was read. */
export interface Command {
  readonly type: string
  readonly cmdId: number
  run(context: CommandContext): Promise<void>
}

export interface DefinedCommand {
  readonly type: string
  readonly legacy: { readonly telemetry?: string; readonly notifications?: string }
  readonly examples: (ids: Ids) => readonly JsonObject[]
  readonly isSilent: boolean
  /** Undefined where it is none. */
  parse(members: unknown): Command | undefined
}

/** An integer, also written as text; of a number with a fraction, such as a computed interval, the whole part. */
export const integer = z.union([
  z.number().transform(Math.trunc).pipe(z.int()),
  z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number),
])
/** An integer that may be left out or null, which are 0. */
export const whole = integer.nullish().transform((value) => value ?? 0)
export const text = z.string().nullish()

/** The command, and the one that ends it where there is one. */
export function defineCommand<Fields extends z.ZodRawShape>({
  type,
  fields,
  legacy = {},
  examples,
  isSilent = false,
  start,
  unsubscribe,
}: CommandDeclaration<Fields>): readonly DefinedCommand[] {
  const schema = z.strictObject({ type: z.literal(type).optional(), cmdId: whole })
  const own = z.strictObject(fields)
  const begin: DefinedCommand = {
    type,
    legacy,
    examples,
    isSilent,
    parse: (members) => {
      if (!isRecord(members)) return undefined
      const { type: named, cmdId, ...rest } = members
      const head = schema.safeParse({ type: named, cmdId })
      const body = own.safeParse(rest)
      if (!head.success || !body.success) return undefined
      const command = { ...body.data, cmdId: head.data.cmdId }
      return { type, cmdId: command.cmdId, run: (context) => start(command, context) }
    },
  }
  if (unsubscribe === undefined) return [begin]
  return [begin, ending(unsubscribe)]
}

/** Ends what goes on under the command's id; unknown ones are ignored. */
function ending({ type, kind, legacy = {} }: Ending): DefinedCommand {
  const schema = z.strictObject({ type: z.literal(type).optional(), cmdId: whole })
  return {
    type,
    legacy,
    examples: () => [{}],
    isSilent: true,
    parse: (members) => {
      const parsed = schema.safeParse(members)
      if (!parsed.success) return undefined
      const { cmdId } = parsed.data
      return { type, cmdId, run: async ({ live }) => void live.remove(kind, cmdId) }
    },
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
