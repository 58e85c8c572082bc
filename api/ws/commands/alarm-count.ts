/** ALARM_COUNT: how many alarms match, told again when it changes. Source: `websocket-api.md` 7. */
import type { AlarmCountQuery } from '../../../model/alarm-query.ts'
import { alarmCountQueryBody, alarmCountQueryOf } from '../../alarm-query.ts'
import { FollowedAlarms, type AlarmView } from '../alarms/followed-alarms.ts'
import { defineCommand, type CommandContext, type LiveCommand } from '../define-command.ts'
import { CommandErrors } from '../errors.ts'

export const alarmCount = defineCommand({
  type: 'ALARM_COUNT',
  legacy: { telemetry: 'alarmCountCmds' },
  unsubscribe: { type: 'ALARM_COUNT_UNSUBSCRIBE', kind: 'query', legacy: { telemetry: 'alarmCountUnsubscribeCmds' } },
  fields: { query: alarmCountQueryBody.nullish() },
  examples: ({ assetId = '' }) => [
    { query: { entityFilter: { type: 'singleEntity', singleEntity: { entityType: 'ASSET', id: assetId } } } },
    { query: {} },
  ],
  async start({ cmdId, query }, context) {
    // A second one under an id that is live is ignored, as in the reference.
    if (context.live.find('query', cmdId) instanceof LiveCount) return
    if (query === undefined || query === null) throw CommandErrors.QUERY_EMPTY()
    const count = new LiveCount(cmdId, alarmCountQueryOf(query), context)
    if (!context.live.add(count)) return count.close()
    try {
      await count.start()
    } catch (error) {
      context.live.forget(count)
      throw error
    }
  },
})

class LiveCount implements LiveCommand, AlarmView {
  readonly cmdId: number
  readonly liveKind = 'query'
  private readonly query: AlarmCountQuery
  private readonly context: CommandContext
  private readonly followed: FollowedAlarms
  private told: number | undefined

  constructor(cmdId: number, query: AlarmCountQuery, context: CommandContext) {
    this.cmdId = cmdId
    this.query = query
    this.context = context
    this.followed = new FollowedAlarms(context, query, this)
  }

  start(): Promise<void> {
    return this.followed.readAgain()
  }

  /** Any may begin to match, or end. */
  concerns(): boolean {
    return true
  }

  async read(): Promise<void> {
    const { services, principal, reads, host } = this.context
    const { entities } = this.followed
    const count = await reads.run(() => services.alarmQueries.countOf(principal, this.query, entities))
    if (this.followed.isClosed || count === this.told) return
    this.told = count
    const head = { cmdId: this.cmdId, errorCode: 0, errorMsg: null, cmdUpdateType: 'ALARM_COUNT_DATA' }
    host.send(JSON.stringify({ ...head, count }))
  }

  close(): void {
    this.followed.close()
  }
}
