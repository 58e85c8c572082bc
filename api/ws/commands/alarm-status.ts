/** ALARM_STATUS: whether an entity has an active alarm, told again when it changes. Source: `websocket-api.md` 7. */
import { z } from 'zod'
import { isEntityType, isUuid, type EntityId } from '../../../model/entity-id.ts'
import { SEVERITIES } from '../../../services/entities/alarm.ts'
import { filled } from '../../entity-query.ts'
import { defineCommand, type CommandContext, type LiveCommand } from '../define-command.ts'
import { CommandErrors } from '../errors.ts'
import type { Rereadable } from '../rereads.ts'

const MAX_NAMES = 1_000
const names = z.array(z.string()).max(MAX_NAMES).nullish()

interface Wanted {
  readonly types: readonly string[] | undefined
  readonly severities: readonly string[] | undefined
}

export const alarmStatus = defineCommand({
  type: 'ALARM_STATUS',
  unsubscribe: { type: 'ALARM_STATUS_UNSUBSCRIBE', kind: 'query' },
  fields: {
    originatorId: z.object({ entityType: z.string(), id: z.string() }).nullish(),
    typeList: names,
    severityList: z.array(z.enum(SEVERITIES)).max(MAX_NAMES).nullish(),
  },
  examples: ({ assetId = '' }) => [{ originatorId: { entityType: 'ASSET', id: assetId } }],
  async start({ cmdId, originatorId, typeList, severityList }, context) {
    // A second one under an id that is live is ignored, as in the reference.
    if (context.live.find('query', cmdId) instanceof LiveStatus) return
    const originator = entityOf(originatorId)
    // As recorded: an empty list allows all.
    const wanted = { types: filled(typeList), severities: filled(severityList) }
    const status = new LiveStatus(cmdId, originator, wanted, context)
    if (!context.live.add(status)) return status.close()
    try {
      await context.host.feed.settled()
      await status.readAgain()
    } catch (error) {
      context.live.forget(status)
      throw error
    }
  },
})

function entityOf(named: { readonly entityType: string; readonly id: string } | null | undefined): EntityId {
  if (named === null || named === undefined) throw CommandErrors.ORIGINATOR_MISSING()
  const { entityType, id } = named
  if (!isEntityType(entityType)) throw CommandErrors.ENTITY_TYPE_UNKNOWN({ entityType })
  if (!isUuid(id)) throw CommandErrors.UUID_INVALID({ value: id })
  return { entityType, id: id.toLowerCase() }
}

class LiveStatus implements LiveCommand, Rereadable {
  readonly cmdId: number
  readonly liveKind = 'query'
  isClosed = false
  private readonly originator: EntityId
  private readonly wanted: Wanted
  private readonly context: CommandContext
  private readonly stops: readonly (() => void)[]
  private told: boolean | undefined

  constructor(cmdId: number, originator: EntityId, wanted: Wanted, context: CommandContext) {
    this.cmdId = cmdId
    this.originator = originator
    this.wanted = wanted
    this.context = context
    const { feed, rereads } = context.host
    const again = (): void => rereads.ask(this)
    this.stops = [
      feed.listen(originator, ({ kind }) => {
        if (kind === 'alarm' || kind === 'device-changed' || kind === 'entity-deleted') again()
      }),
      feed.onGap(again),
      () => rereads.forget(this),
    ]
  }

  /** Asks anew whether the user may see the entity: it may have changed hands. */
  async readAgain(): Promise<void> {
    const { host, services, principal, live, checkAccess } = this.context
    try {
      await checkAccess(this.originator, 'READ')
    } catch (error) {
      if (this.told === undefined) throw error
      return live.forget(this)
    }
    const { tenantId } = principal
    const found = { tenantId: tenantId ?? '', originatorId: this.originator.id, ...this.wanted }
    const active = await services.alarms.hasActive(found)
    if (this.isClosed || active === this.told) return
    this.told = active
    const frame = { cmdId: this.cmdId, errorCode: 0, errorMsg: null, cmdUpdateType: 'ALARM_STATUS', active }
    host.send(JSON.stringify(frame))
  }

  close(): void {
    this.isClosed = true
    for (const stop of this.stops) stop()
  }
}
