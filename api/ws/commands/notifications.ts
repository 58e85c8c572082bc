/** The inbox of the user: its unread ones, how many they are, and marking them as read. Source: `websocket-api.md` 8. */
import { z } from 'zod'
import { isUuid } from '../../../model/entity-id.ts'
import { stringifyJson, type JsonObject } from '../../../model/json.ts'
import { NOTIFICATION_TYPES } from '../../../services/notifications/types.ts'
import { defineCommand, integer, type CommandContext, type LiveCommand } from '../define-command.ts'
import { CommandErrors } from '../errors.ts'
import type { Rereadable } from '../rereads.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 1_000
const MAX_NAMES = 1_000

export const notifications = [
  ...defineCommand({
    type: 'NOTIFICATIONS',
    legacy: { notifications: 'unreadSubCmd' },
    fields: {
      limit: integer.refine((limit) => limit >= 0, 'Too small: expected number to be >=0').nullish(),
      types: z.array(z.enum(NOTIFICATION_TYPES)).max(MAX_NAMES).nullish(),
    },
    examples: () => [{ limit: 10 }, { limit: 1, types: ['ALARM'] }],
    unsubscribe: { type: 'NOTIFICATIONS_UNSUBSCRIBE', kind: 'inbox' },
    async start({ cmdId, limit, types }, context) {
      const wanted = Math.min(Math.max(limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT)
      await begin(new UnreadList(cmdId, context, wanted, types ?? []), context)
    },
  }),
  ...defineCommand({
    type: 'NOTIFICATIONS_COUNT',
    legacy: { notifications: 'unreadCountSubCmd' },
    fields: {},
    examples: () => [{}],
    async start({ cmdId }, context) {
      await begin(new UnreadCount(cmdId, context), context)
    },
  }),
  ...defineCommand({
    type: 'MARK_NOTIFICATIONS_AS_READ',
    legacy: { notifications: 'markAsReadCmd' },
    isSilent: true,
    fields: { notifications: z.array(z.string()).max(MAX_NAMES).nullish() },
    examples: ({ notificationId = '' }) => [{ notifications: [notificationId] }],
    async start({ notifications: ids }, { services, principal }) {
      const wrong = ids?.find((id) => !isUuid(id))
      if (wrong !== undefined) throw CommandErrors.UUID_INVALID({ value: wrong })
      const named = ids?.map((id) => id.toLowerCase()) ?? []
      if (named.length > 0) await services.notifications.inbox.markManyRead(principal, named)
    },
  }),
  ...defineCommand({
    type: 'MARK_ALL_NOTIFICATIONS_AS_READ',
    legacy: { notifications: 'markAllAsReadCmd' },
    isSilent: true,
    fields: {},
    examples: () => [{}],
    async start(_command, { services, principal }) {
      await services.notifications.inbox.markAllRead(principal)
    },
  }),
]

async function begin(live: LiveInbox, context: CommandContext): Promise<void> {
  if (!context.live.add(live)) return live.close()
  try {
    await context.host.feed.settled()
    await live.readAgain()
  } catch (error) {
    context.live.forget(live)
    throw error
  }
}

/** Reads again whenever the inbox changed, in whichever process. */
abstract class LiveInbox implements LiveCommand, Rereadable {
  readonly cmdId: number
  readonly liveKind = 'inbox'
  isClosed = false
  protected readonly context: CommandContext
  private readonly stops: readonly (() => void)[]
  /** One after the other: an older read never follows a newer one. */
  private reading: Promise<void> = Promise.resolve()
  private sequence = 0

  constructor(cmdId: number, context: CommandContext) {
    this.cmdId = cmdId
    this.context = context
    const { feed, rereads } = context.host
    const again = (): void => rereads.ask(this)
    this.stops = [
      feed.listen({ entityType: 'USER', id: context.principal.userId }, ({ kind }) => {
        if (kind === 'inbox-changed') again()
      }),
      feed.onGap(again),
      () => rereads.forget(this),
    ]
  }

  protected abstract read(): Promise<void>

  readAgain(): Promise<void> {
    const turn = this.reading.then(() => (this.isClosed ? undefined : this.read()))
    this.reading = turn.catch(() => undefined)
    return turn
  }

  protected tell(members: JsonObject): void {
    if (this.isClosed) return
    const head = { cmdId: this.cmdId, errorCode: 0, errorMsg: null, ...members, sequenceNumber: ++this.sequence }
    this.context.host.send(stringifyJson(head))
  }

  close(): void {
    this.isClosed = true
    for (const stop of this.stops) stop()
  }
}

class UnreadCount extends LiveInbox {
  private told: number | undefined

  protected async read(): Promise<void> {
    const { services, principal } = this.context
    const totalUnreadCount = await services.notifications.inbox.unreadCount(principal)
    if (totalUnreadCount === this.told) return
    this.told = totalUnreadCount
    this.tell({ cmdUpdateType: 'NOTIFICATIONS_COUNT', totalUnreadCount })
  }
}

class UnreadList extends LiveInbox {
  private readonly limit: number
  private readonly types: readonly string[]
  /** Ids as they were told, newest first. */
  private told: readonly string[] | undefined
  private toldCount = 0

  constructor(cmdId: number, context: CommandContext, limit: number, types: readonly string[]) {
    super(cmdId, context)
    this.limit = limit
    this.types = types
  }

  /** The whole list at first and when some left it; what came on top one by one. */
  protected async read(): Promise<void> {
    const { services, principal } = this.context
    const query = { page: 0, pageSize: this.limit, sortProperty: 'createdTime', sortOrder: 'DESC' } as const
    const { data, totalElements } = await services.notifications.inbox.page(principal, true, query, this.types)
    const ids = data.map(idOf)
    const { told, toldCount } = this
    this.told = ids
    this.toldCount = totalElements
    const cmdUpdateType = 'NOTIFICATIONS'
    const added = told === undefined ? undefined : addedOnTop(told, ids, totalElements - toldCount)
    if (added === undefined)
      return this.tell({ cmdUpdateType, notifications: [...data], update: null, totalUnreadCount: totalElements })
    for (let left = added - 1; left >= 0; left--) {
      const totalUnreadCount = totalElements - left
      this.tell({ cmdUpdateType, notifications: null, update: data[left] ?? null, totalUnreadCount })
    }
  }
}

/** How many are new where all that differs is on top; undefined where something else does. */
function addedOnTop(told: readonly string[], ids: readonly string[], added: number): number | undefined {
  if (added < 0 || added > ids.length) return undefined
  const rest = ids.slice(added)
  return rest.every((id, index) => id === told[index]) && rest.length >= Math.min(told.length, ids.length - added)
    ? added
    : undefined
}

function idOf({ id }: JsonObject): string {
  return JSON.stringify(id)
}
