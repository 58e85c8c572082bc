/**
 * The entities whose alarms one command shows. They are found first, followed then, and found anew where they may not be the same any more.
 * A read of the alarms is asked for when one changes: once for all that change together, and not too often.
 */
import type { TimerHandle } from '../../../model/clock.ts'
import type { AlarmCountQuery } from '../../../model/alarm-query.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { AskedEntities } from '../../../services/alarms/alarm-query-service.ts'
import { dynamicSources } from '../../../services/queries/resolve.ts'
import { notingChanges } from '../changed-meanwhile.ts'
import type { CommandContext } from '../define-command.ts'
import type { FollowedChange, Follower } from '../followed-entities.ts'
import type { Rereadable } from '../rereads.ts'
import type { Flushable } from '../subscription.ts'

/** Between two reads for changes that are heard one after the other. */
const PAUSE_MS = 500
/** In a row, where entities change hands before they are followed: then they are found anew as after any other change. */
const MAX_FINDS = 3
/** As often the entities are found anew: what a query matches may change without a word, and time windows move. */
const REFRESH_MS = 60_000

/** What is done with what is followed. */
export interface AlarmView {
  /** Whether the change of this alarm matters. */
  concerns(alarmId: string): boolean
  /** A change of values. */
  heard?(entity: EntityId, change: FollowedChange): void
  /** Reads the alarms of the entities that are followed, and tells what is new. */
  read(): Promise<void>
}

export interface FollowedKeys {
  readonly series: ReadonlySet<string>
  readonly attributes: ReadonlySet<string>
}

const NO_KEYS: FollowedKeys = { series: new Set(), attributes: new Set() }

export class FollowedAlarms implements Follower, Rereadable, Flushable {
  readonly followsAlarms = true
  readonly series: ReadonlySet<string>
  readonly attributes: ReadonlySet<string>
  /** In their order; undefined for all that the caller sees. */
  entities: readonly EntityId[] | undefined
  total = 0
  private readonly context: CommandContext
  private readonly query: AlarmCountQuery
  private readonly asked: AskedEntities | undefined
  private readonly view: AlarmView
  private readonly stops: (() => void)[] = []
  /** Whether the entities may not be the ones any more. */
  private isStale = true
  /** Entities that may have changed hands: until they are found anew no value of them is told. */
  private readonly inDoubt = new Set<string>()
  private isAsked = false
  private pause: TimerHandle | undefined
  private refresh: TimerHandle | undefined
  private steps: Promise<void> = Promise.resolve()
  private closed = false

  constructor(context: CommandContext, query: AlarmCountQuery, view: AlarmView, keys: FollowedKeys = NO_KEYS) {
    this.context = context
    this.query = query
    this.view = view
    this.series = keys.series
    this.attributes = keys.attributes
    const { filter } = query
    this.asked = filter === undefined ? undefined : { ...query, filter }
    const { feed, rereads } = context.host
    this.stops.push(
      feed.onGap(() => this.doubt()),
      () => rereads.forget(this),
    )
    for (const source of dynamicSources(context.principal, query.keyFilters))
      this.stops.push(feed.listen(source, ({ kind }) => void (kind.startsWith('attributes') && this.doubt())))
    if (this.asked === undefined) this.stops.push(this.followAll())
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** The entities are as the query finds them from here on, until it is closed. */
  readAgain(): Promise<void> {
    return this.step(async () => {
      try {
        if (this.isStale) await this.find()
        await this.view.read()
      } finally {
        this.refreshLater()
      }
    })
  }

  heard(entity: EntityId, change: FollowedChange): void {
    if (this.closed) return
    if (change.kind === 'entity') {
      this.inDoubt.add(entity.id)
      this.doubt()
    } else if (change.kind === 'alarm') this.hear(change.alarmId)
    else if (!this.inDoubt.has(entity.id)) this.view.heard?.(entity, change)
  }

  /** All may be other than it was. */
  doubt(): void {
    this.isStale = true
    this.ask()
  }

  ask(): void {
    if (this.closed) return
    this.isAsked = true
    if (this.pause !== undefined) return
    const { host, clock } = this.context
    if (host.isSlow) return host.whenDrained(this)
    this.isAsked = false
    this.pause = clock.after(PAUSE_MS, () => {
      this.pause = undefined
      if (this.isAsked) this.ask()
    })
    host.rereads.ask(this)
  }

  /** The client has read what waited for it. */
  flush(): void {
    if (this.isAsked) this.ask()
  }

  close(): void {
    this.closed = true
    this.pause?.cancel()
    this.refresh?.cancel()
    for (const stop of this.stops) stop()
    this.context.followed.unfollow(this.entities ?? [], this)
  }

  private hear(alarmId: string): void {
    if (this.view.concerns(alarmId)) this.ask()
  }

  private followAll(): () => void {
    const { host, principal } = this.context
    return host.feed.listenToAll(['alarm'], ({ tenantId, alarmId }) => {
      if (tenantId === principal.tenantId) this.hear(alarmId)
    })
  }

  private async find(): Promise<void> {
    const { host } = this.context
    this.isStale = false
    try {
      if (this.asked !== undefined) await this.findAsked(this.asked)
      if (this.closed) return
      await host.feed.settled()
      if (!this.isStale) this.inDoubt.clear()
    } catch (error) {
      this.isStale = true
      throw error
    }
  }

  private async findAsked(asked: AskedEntities): Promise<void> {
    const { services, principal, reads, host } = this.context
    await notingChanges(host.feed, async (changed) => {
      for (let finds = 1; ; finds++) {
        const { entities, total } = await reads.run(() => services.alarmQueries.entitiesOf(principal, asked))
        if (this.closed) return
        const known = new Set(this.entities?.map(({ id }) => id))
        this.follow(entities)
        this.total = total
        // Those that were followed before have told it themselves.
        const late = changed.take(entities).filter(({ id }) => !known.has(id))
        if (late.length === 0) return
        if (finds < MAX_FINDS) continue
        for (const entity of late) this.heard(entity, { kind: 'entity' })
        return
      }
    })
  }

  private follow(entities: readonly EntityId[]): void {
    const { followed } = this.context
    const ids = new Set(entities.map(({ id }) => id))
    const before = this.entities ?? []
    const kept = before.filter(({ id }) => ids.has(id))
    const known = new Set(kept.map(({ id }) => id))
    const gone = before.filter(({ id }) => !ids.has(id))
    followed.unfollow(gone, this)
    this.entities = kept
    const fresh = entities.filter(({ id }) => !known.has(id))
    followed.follow(fresh, this)
    this.entities = entities
  }

  private refreshLater(): void {
    this.refresh?.cancel()
    if (this.closed) return
    // Without a change of its own a query of a fixed time does not show other alarms.
    if (this.query.timeWindowMs === undefined && this.asked?.page?.isDynamic === false) return
    this.refresh = this.context.clock.after(REFRESH_MS, () => this.doubt())
  }

  /** One after the other; who asked for a step hears of its failure, the next one begins all the same. */
  private step(work: () => Promise<void>): Promise<void> {
    const done = this.steps.then(() => (this.closed ? undefined : work()))
    this.steps = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }
}
