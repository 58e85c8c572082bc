/** For tests: visits of rule nodes over a platform's store, of a log with one partition. */
import assert from 'node:assert/strict'
import type { AlarmVisit } from '../../engine/rulechain/capabilities/alarms.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { TestClock } from '../testkit.ts'
import { AlarmVisits, type AlarmVisitsParts } from './visits.ts'

let visits = 0

/** Another one each time. */
export function nextVisit(): AlarmVisit {
  return { id: `visit ${++visits}`, originatorId: 'originator', sequence: visits }
}

export function testVisits(
  { entities, clock }: { readonly entities: EntityStore; readonly clock: TestClock },
  own: Partial<AlarmVisitsParts['log']> = {},
): AlarmVisits {
  const log = { name: 'test', streamOf: () => 0, settledBelow: () => 0, fence: () => undefined, ...own }
  return new AlarmVisits({ entities, clock, report: (text) => assert.fail(text), log })
}
