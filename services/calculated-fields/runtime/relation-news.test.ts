import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EntityId } from '../../../model/entity-id.ts'
import type { RelationKey } from '../../../model/relation.ts'
import { concernedWays, stepsOnWays, type RelationWay } from './relation-news.ts'

const entity = (id: string): EntityId => ({ entityType: 'ASSET', id })
const relation = (from: string, to: string, type = 'Contains'): RelationKey => {
  return { from: entity(from), to: entity(to), type, typeGroup: 'COMMON' }
}
const DOWN = { direction: 'FROM', relationType: 'Contains' } as const
const UP = { direction: 'TO', relationType: 'Contains' } as const
const WAYS: readonly RelationWay[] = [
  { owner: entity('hall'), levels: [DOWN, { ...DOWN, relationType: 'Uses' }] },
  { owner: entity('lamp'), levels: [UP] },
]

test('a relation concerns each way that has it as a step, from the end where the step begins', () => {
  const found = (...changed: RelationKey[]) =>
    concernedWays(WAYS, { kind: 'relations', changed }).map(
      ({ owner, near, levels }) => [owner.id, near.id, levels.length] as const,
    )
  assert.deepEqual(found(relation('hall', 'lamp')), [
    ['hall', 'hall', 0],
    ['lamp', 'lamp', 0],
  ])
  assert.deepEqual(found(relation('room', 'meter', 'Uses')), [['hall', 'room', 1]])
  assert.deepEqual(found(relation('room', 'meter', 'Uses'), relation('room', 'gauge', 'Uses')), [['hall', 'room', 1]])
  assert.deepEqual(found(relation('hall', 'lamp', 'Manages')), [])
})

test('only steps of ways are told, a hundred a message', () => {
  const many = Array.from({ length: 250 }, (_, place) => relation('hall', `lamp ${place}`))
  const others = [relation('hall', 'x', 'Manages'), { ...relation('hall', 'x'), typeGroup: 'DASHBOARD' } as const]
  const messages = stepsOnWays(WAYS, [...others, ...many])
  assert.deepEqual(
    messages.map((steps) => steps.length),
    [100, 100, 50],
  )
  assert.deepEqual(stepsOnWays([], many), [])
})
