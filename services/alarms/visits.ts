/**
 * What came of the visits in which rule nodes raised or cleared alarms. It is committed with the alarm: a kill between that and the messages that
 * tell of it has the log deliver the message again, and the visit is answered as it was, whatever became of the alarm. Rows go once the log has
 * settled their messages durably; those that came again, and those of no message, after a day.
 */
import { z } from 'zod'
import { ALARM_SEVERITIES } from '../../model/alarm-severity.ts'
import { awaitedLater } from '../../model/awaited-later.ts'
import type { Clock } from '../../model/clock.ts'
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import {
  NODE_ALARM_STATUSES,
  type AlarmPlace,
  type AlarmVisit,
  type NodeAlarm,
  type RaisedAlarm,
} from '../../engine/rulechain/capabilities/alarms.ts'
import { alarmVisitId } from '../../engine/rulechain/child-id.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Report } from '../changes/outbox.ts'
import { Sweeps } from '../cleanup/sweeps.ts'
import { AlarmErrors } from './errors.ts'

export interface AlarmVisitsParts {
  readonly entities: Pick<EntityStore, 'alarmVisits' | 'write'>
  readonly clock: Clock
  readonly report: Report
  /** Its partitions: `name` tells them from those of another log. */
  readonly log: {
    readonly name: string
    streamOf(originatorId: string): number
    /** Up to which sequence a stream of the log is settled durably. */
    settledBelow(stream: number): number
    /** A step that undoes the transaction where another process has the stream by now; undefined before it is this one's. */
    fence(stream: number): Statement | undefined
  }
}

export interface ToldAlarm {
  readonly result: RaisedAlarm['result'] | 'cleared'
  readonly previousSeverity: RaisedAlarm['previousSeverity']
  readonly alarm: NodeAlarm
}

/** What a node does with one alarm in one visit. */
export interface VisitPlace {
  readonly id: string
  readonly tenantId: string
  readonly stream: number
  readonly sequence: number | null
}

/** What is known here of a stream's rows. */
interface Known {
  /** No row is of a later message, as soon as `read` is undefined. */
  highest: number
  read: Promise<void> | undefined
  /** Since the last sweep that found none left. */
  mayHaveRows: boolean
}

const SWEEP_MS = 10_000
const PAUSE_MS = 100
const PIECE = 1_000
const AGED_SWEEP_MS = 3_600_000
/** A message that is not settled after so long has been forgotten by the log too. */
const LONGEST_MS = 86_400_000
const NO_ROW = -1

const TOLD = z.object({
  result: z.enum(['created', 'updated', 'severity updated', 'cleared']),
  previousSeverity: z.enum(ALARM_SEVERITIES).nullable(),
  json: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
})
const ALARM_JSON = z.object({
  id: z.object({ id: z.string() }),
  originator: z.object({ entityType: z.enum(ENTITY_TYPES), id: z.string() }),
  type: z.string(),
  severity: z.enum(ALARM_SEVERITIES),
  status: z.enum(NODE_ALARM_STATUSES),
  startTs: z.number(),
  endTs: z.number(),
  details: z.custom<JsonValue>((value) => value !== undefined),
})

export class AlarmVisits {
  private readonly parts: AlarmVisitsParts
  private readonly streams = new Map<number, Known>()
  private readonly sweeps: Sweeps
  /** By the visit's id. */
  private readonly underWay = new Map<string, Promise<unknown>>()
  private agedAt = 0

  constructor(parts: AlarmVisitsParts) {
    this.parts = parts
    this.sweeps = new Sweeps({
      ...{ clock: parts.clock, report: parts.report, intervalMs: SWEEP_MS, pauseMs: PAUSE_MS },
      failure: 'What came of settled visits of alarms is not cleared away; it is tried again',
      sweep: () => this.sweep(),
    })
  }

  start(): void {
    this.sweeps.start()
  }

  close(): Promise<void> {
    return this.sweeps.close()
  }

  of(
    { tenantId, ruleNodeId }: NodeIdentity,
    visit: AlarmVisit,
    does: 'raise' | 'clear',
    place: AlarmPlace,
  ): VisitPlace {
    const { originator, type } = place
    const id = alarmVisitId(visit.id, ruleNodeId, does, originator.id, type)
    return { id, tenantId, stream: this.parts.log.streamOf(visit.originatorId), sequence: visit.sequence }
  }

  /** What came of the visit before, or what `act` makes of it now; that must commit {@link steps} with the alarm. */
  async once(place: VisitPlace, act: () => Promise<ToldAlarm | undefined>): Promise<ToldAlarm | undefined> {
    // A call that timed out goes on while its message is tried again: beside it, the second finds the alarm changed and knows not by whom.
    for (let other = this.underWay.get(place.id); other !== undefined; other = this.underWay.get(place.id))
      await other.catch(() => undefined)
    const mine = this.visit(place, act)
    this.underWay.set(place.id, mine)
    try {
      return await mine
    } finally {
      this.underWay.delete(place.id)
    }
  }

  private async visit(place: VisitPlace, act: () => Promise<ToldAlarm | undefined>): Promise<ToldAlarm | undefined> {
    const before = await this.find(place)
    if (before !== undefined) return before
    try {
      return await act()
    } catch (error) {
      // The commit of a connection that broke came after the look for it.
      if (!isMillraceError(error) || error.code !== VISITED) throw error
      return this.read(place.id)
    }
  }

  /**
   * Whether a later message made the alarm: the visit had found none, and comes again. As long as the earlier message can come again, the row of the
   * later one is there.
   */
  async isOfLater({ stream, sequence }: VisitPlace, alarmId: string): Promise<boolean> {
    if (sequence === null || sequence >= this.knownOf(stream).highest) return false
    return this.parts.entities.alarmVisits.hasLaterCreation(this.nameOf(stream), sequence, alarmId)
  }

  /**
   * For the transaction of the alarm; they undo it where the visit was there before, and where the partition is another process's: that one
   * would not find the row, having looked before.
   */
  steps(place: VisitPlace, told: ToldAlarm): readonly Statement[] {
    const fence = this.parts.log.fence(place.stream)
    return [...(fence === undefined ? [] : [fence]), this.insert(place, told)]
  }

  private insert({ id, tenantId, stream, sequence }: VisitPlace, { result, previousSeverity, alarm }: ToldAlarm) {
    const { entities, clock } = this.parts
    const told = stringifyJson({ result, previousSeverity, json: alarm.json })
    if (sequence !== null) {
      const known = this.knownOf(stream)
      known.highest = Math.max(known.highest, sequence)
      known.mayHaveRows = true
    }
    const createdAlarm = result === 'created' ? alarm.id : null
    const row = { id, tenantId, partition: this.nameOf(stream), sequence, told, createdAlarm }
    return entities.alarmVisits.insert(row, clock.now(), () => AlarmErrors.VISITED())
  }

  /** The stream came or went: another process may have written what is not known here. */
  forget(stream: number): void {
    this.streams.delete(stream)
  }

  /** Removes a piece; whether there may be more. */
  async sweep(): Promise<boolean> {
    const { entities, clock, log } = this.parts
    let isMore = false
    for (const [stream, known] of this.streams) {
      if (!known.mayHaveRows) continue
      const settled = log.settledBelow(stream)
      const { highest } = known
      const removed = await this.remove(entities.alarmVisits.removeBelow(this.nameOf(stream), settled, PIECE))
      if (removed >= PIECE) isMore = true
      else if (settled > highest && known.highest === highest) known.mayHaveRows = false
    }
    const now = clock.now()
    if (now >= this.agedAt) {
      if ((await this.remove(entities.alarmVisits.removeOlder(now - LONGEST_MS, PIECE))) >= PIECE) isMore = true
      else this.agedAt = now + AGED_SWEEP_MS
    }
    return isMore
  }

  private async remove(statement: Statement): Promise<number> {
    const { results } = await this.parts.entities.write([statement])
    return results[0]?.changes ?? 0
  }

  private async find({ id, stream, sequence }: VisitPlace): Promise<ToldAlarm | undefined> {
    if (sequence === null) return this.read(id)
    const known = this.knownOf(stream)
    if (known.read !== undefined) await known.read
    // As a rule: what comes for the first time is later than all that has rows.
    return sequence > known.highest ? undefined : this.read(id)
  }

  private async read(id: string): Promise<ToldAlarm | undefined> {
    const { entities } = this.parts
    const row = await entities.alarmVisits.find(id)
    if (row === undefined) return undefined
    if (!row.isKept) await entities.write([entities.alarmVisits.keep(id)])
    const { result, previousSeverity, json } = TOLD.parse(parseJson(row.told))
    const { id: alarmId, ...members } = ALARM_JSON.parse(json)
    return { result, previousSeverity, alarm: { ...members, id: alarmId.id, json } }
  }

  private knownOf(stream: number): Known {
    const before = this.streams.get(stream)
    if (before !== undefined) return before
    const known: Known = { highest: NO_ROW, read: undefined, mayHaveRows: true }
    this.streams.set(stream, known)
    known.read = awaitedLater(
      this.parts.entities.alarmVisits
        .highestSequence(this.nameOf(stream))
        .then((highest = NO_ROW) => {
          known.highest = Math.max(known.highest, highest)
          known.read = undefined
        })
        .catch((error: unknown) => {
          // The next visit reads it again.
          if (this.streams.get(stream) === known) this.streams.delete(stream)
          throw error
        }),
    )
    return known
  }

  private nameOf(stream: number): string {
    return `${this.parts.log.name} ${stream}`
  }
}

const VISITED = AlarmErrors.VISITED().code
