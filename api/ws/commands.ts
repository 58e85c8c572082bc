/**
 * What a client may send: the list of commands, and the three envelopes that hold them. Strict as the reference is: an unknown member
 * refuses the whole frame. Source: `websocket-api.md` 2.1 and 3.
 */
import { z } from 'zod'
import { alarmCount } from './commands/alarm-count.ts'
import { alarmData } from './commands/alarm-data.ts'
import { alarmStatus } from './commands/alarm-status.ts'
import { entityCount } from './commands/entity-count.ts'
import { entityData } from './commands/entity-data.ts'
import { notifications } from './commands/notifications.ts'
import { attributes, timeSeries, timeSeriesHistory } from './commands/telemetry.ts'
import { integer, text, type Command, type DefinedCommand } from './define-command.ts'

/** A new command is one line here. In the order in which the older envelope's lists are carried out. */
export const COMMANDS: readonly DefinedCommand[] = [
  ...attributes,
  ...timeSeries,
  ...timeSeriesHistory,
  ...entityData,
  ...entityCount,
  ...alarmStatus,
  ...alarmData,
  ...alarmCount,
  ...notifications,
]

const BY_TYPE = new Map(COMMANDS.map((command) => [command.type, command]))
const TELEMETRY_LISTS = namedBy(({ legacy }) => legacy.telemetry)
const NOTIFICATION_MEMBERS = namedBy(({ legacy }) => legacy.notifications)
const NOTIFICATION_END = 'unsubCmd'

function namedBy(name: (command: DefinedCommand) => string | undefined): ReadonlyMap<string, DefinedCommand> {
  const named = new Map<string, DefinedCommand>()
  for (const command of COMMANDS) {
    const member = name(command)
    if (member !== undefined) named.set(member, command)
  }
  return named
}

/** Front ends name its type as that of every command. */
const authCommand = z.strictObject({
  type: z.literal('AUTH').nullish(),
  cmdId: integer.nullish(),
  token: text,
  apiKey: text,
})
export type AuthCommand = z.infer<typeof authCommand>

export interface Envelope {
  readonly authCmd: AuthCommand | undefined
  readonly commands: readonly Command[]
}

/** Those of `/api/ws`, of `/api/ws/plugins/telemetry` and of `/api/ws/plugins/notifications`. */
export type EnvelopeKind = 'new' | 'legacy' | 'notifications'

const newEnvelope = z.strictObject({
  authCmd: authCommand.nullish(),
  cmds: z.array(z.looseObject({ type: z.string() })).nullish(),
})
const legacyEnvelope = z.record(z.string(), z.array(z.unknown()).nullish())
const notificationEnvelope = z.record(z.string(), z.unknown())

/** Undefined where the text is not such an envelope. */
export function parseEnvelope(kind: EnvelopeKind, frame: string): Envelope | undefined {
  let document: unknown
  try {
    document = JSON.parse(frame)
  } catch {
    return undefined
  }
  if (kind === 'new') {
    const parsed = newEnvelope.safeParse(document)
    if (!parsed.success) return undefined
    const { authCmd, cmds } = parsed.data
    return envelopeOf(
      (cmds ?? []).map((members) => BY_TYPE.get(members.type)?.parse(members)),
      authCmd ?? undefined,
    )
  }
  return kind === 'legacy' ? legacyOf(document) : notificationsOf(document)
}

/** Lists of commands whose kind their member's name says; a `type` beside it is tolerated. */
function legacyOf(document: unknown): Envelope | undefined {
  const parsed = legacyEnvelope.safeParse(document)
  if (!parsed.success || Object.keys(parsed.data).some((member) => !TELEMETRY_LISTS.has(member))) return undefined
  const lists = [...TELEMETRY_LISTS].flatMap(([member, command]) =>
    (parsed.data[member] ?? []).map((members) => command.parse(members)),
  )
  return envelopeOf(lists)
}

function notificationsOf(document: unknown): Envelope | undefined {
  const parsed = notificationEnvelope.safeParse(document)
  if (!parsed.success) return undefined
  const commands = Object.entries(parsed.data)
    .filter(([, members]) => members !== null)
    .map(([member, members]) => {
      const command =
        member === NOTIFICATION_END ? BY_TYPE.get('NOTIFICATIONS_UNSUBSCRIBE') : NOTIFICATION_MEMBERS.get(member)
      return command?.parse(members)
    })
  return envelopeOf(commands)
}

function envelopeOf(read: readonly (Command | undefined)[], authCmd?: AuthCommand): Envelope | undefined {
  const commands: Command[] = []
  for (const command of read) {
    if (command === undefined) return undefined
    commands.push(command)
  }
  return { authCmd, commands }
}
