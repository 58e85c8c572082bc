/**
 * What nodes ask of relations, at once for what was asked lately. A search may lead over any relation of its tenant: answers of a tenant are
 * kept until the feed tells that some relation of it changed, or went with an entity.
 */
import type { Soon } from '../../engine/rulechain/capabilities/soon.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { NodeRelation } from '../../engine/rulechain/capabilities/relations.ts'
import { KeptReads } from './kept-reads.ts'

/** Of each kind of question. */
const MAX_BYTES = 4 * 2 ** 20
/** Of an answer, and of each relation in it. */
const ANSWER_BYTES = 200
const RELATION_BYTES = 600

interface Answer<Value> {
  readonly tenantId: string
  readonly value: Value
}

/** Answers of one kind. */
class Answers<Value> {
  private readonly kept: KeptReads<Answer<Value>>

  constructor(countOf: (value: Value) => number) {
    this.kept = new KeptReads({
      maxBytes: MAX_BYTES,
      sizeOf: ({ value }) => ANSWER_BYTES + RELATION_BYTES * countOf(value),
      dependsOn: ({ tenantId }) => [tenantId],
    })
  }

  find(tenantId: string, question: string, read: () => Promise<Value>): Soon<Value> {
    const answer = this.kept.read(`${tenantId} ${question}`, async () => ({ tenantId, value: await read() }))
    return whenThere(answer, ({ value }) => value)
  }

  changed(tenantId: string): void {
    this.kept.changed(tenantId)
  }

  changedAll(): void {
    this.kept.changedAll()
  }
}

export class KnownRelations {
  readonly presences = new Answers<boolean>(() => 0)
  /** Without what users add to a relation: it may be large. */
  readonly lists = new Answers<readonly NodeRelation[]>(({ length }) => length)
  readonly searches = new Answers<readonly EntityId[]>(({ length }) => length)
  /** Level by level, and whether there may be more. */
  readonly walks = new Answers<{ readonly ends: readonly EntityId[]; readonly isCut: boolean }>(
    ({ ends }) => ends.length,
  )
  private readonly stops: readonly (() => void)[]

  constructor(feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>) {
    const all = [this.presences, this.lists, this.searches, this.walks]
    const forget = (): void => {
      for (const answers of all) answers.changedAll()
    }
    this.stops = [
      feed.listenToAll(['relations-changed', 'entity-deleted'], ({ tenantId }) => {
        for (const answers of all) answers.changed(tenantId)
      }),
      feed.listenToAll(['device-changed'], ({ hasMoved }) => {
        // Whose it was is not told.
        if (hasMoved === true) forget()
      }),
      feed.onGap(forget),
    ]
  }

  close(): void {
    for (const stop of this.stops) stop()
  }
}
