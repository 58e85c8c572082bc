/** ENTITY_COUNT: how many entities match, told again when it changes. Source: `websocket-api.md` 7. */
import type { TimerHandle } from '../../../model/clock.ts'
import type { EntityCountQuery } from '../../../model/entity-query.ts'
import { countQueryBody, countQueryOf } from '../../entity-query.ts'
import { defineCommand, type CommandContext, type LiveCommand } from '../define-command.ts'
import { CommandErrors } from '../errors.ts'

/** As often is counted again. */
const RECOUNT_MS = 60_000

export const entityCount = defineCommand({
  type: 'ENTITY_COUNT',
  legacy: { telemetry: 'entityCountCmds' },
  unsubscribe: { type: 'ENTITY_COUNT_UNSUBSCRIBE', kind: 'query', legacy: { telemetry: 'entityCountUnsubscribeCmds' } },
  fields: { query: countQueryBody.nullish() },
  examples: ({ deviceId = '' }) => [
    { query: { entityFilter: { type: 'singleEntity', singleEntity: { entityType: 'DEVICE', id: deviceId } } } },
  ],
  async start({ cmdId, query }, context) {
    // A second one under an id that is live is ignored, as in the reference.
    if (context.live.find('query', cmdId) instanceof LiveCount) return
    if (query === undefined || query === null) throw CommandErrors.QUERY_EMPTY()
    const count = new LiveCount(cmdId, countQueryOf(query), context)
    if (!context.live.add(count)) return count.close()
    try {
      await count.tell()
    } catch (error) {
      context.live.forget(count)
      throw error
    }
  },
})

class LiveCount implements LiveCommand {
  readonly cmdId: number
  readonly liveKind = 'query'
  private readonly query: EntityCountQuery
  private readonly context: CommandContext
  private timer: TimerHandle | undefined
  private told: number | undefined
  private isClosed = false

  constructor(cmdId: number, query: EntityCountQuery, context: CommandContext) {
    this.cmdId = cmdId
    this.query = query
    this.context = context
  }

  async tell(): Promise<void> {
    const { services, principal, reads, host } = this.context
    try {
      const count = await reads.run(() => services.entityQueries.count(principal, this.query, { isDynamic: true }))
      if (this.isClosed) return
      if (count !== this.told) {
        const frame = { cmdId: this.cmdId, errorCode: 0, errorMsg: null, cmdUpdateType: 'COUNT_DATA', count }
        host.send(JSON.stringify(frame))
      }
      this.told = count
    } finally {
      // A store that does not answer now is asked again like any other.
      if (!this.isClosed) this.timer = this.context.clock.after(RECOUNT_MS, () => this.tellAgain())
    }
  }

  private tellAgain(): void {
    this.tell().catch((error: unknown) => {
      if (!this.isClosed) this.context.fail(this.cmdId, error)
    })
  }

  close(): void {
    this.isClosed = true
    this.timer?.cancel()
  }
}
