import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration } from '../../../../model/calculated-fields/configuration.ts'
import { newConfiguration } from './field-shapes.js'
import { SOURCES, STRATEGIES, groupsOf, namedGroups, newGroup } from './zone-shapes.js'

const COMMON = {
  perimeterKeyName: 'perimeter',
  reportStrategy: 'REPORT_PRESENCE_STATUS_ONLY',
  createRelationsWithMatchedZones: false,
}
const LEVELS = [
  { direction: 'TO', relationType: 'Contains' },
  { direction: 'FROM', relationType: 'Manages' },
]
const GROUPS = {
  one: { ...COMMON, refEntityId: { entityType: 'ASSET', id: '13814000-1dd2-11b2-8080-808080808081' } },
  owner: { ...COMMON, refDynamicSourceConfiguration: { type: 'CURRENT_OWNER' }, note: 'kept' },
  own: { ...COMMON, relationType: 'kept', direction: 'TO' },
  related: {
    ...COMMON,
    ...{ refDynamicSourceConfiguration: { type: 'RELATION_PATH_QUERY', levels: LEVELS } },
    ...{ createRelationsWithMatchedZones: true, relationType: 'IsIn', direction: 'FROM' },
  },
}

test('groups of zones that nobody changes stay as they are', () => {
  assert.deepEqual(namedGroups(groupsOf(GROUPS)), GROUPS)
})

test('a new group, from every source and with every strategy, is one that the server takes', () => {
  const entity = GROUPS.one.refEntityId
  for (const [kind] of SOURCES)
    for (const [strategy] of STRATEGIES) {
      const group = newGroup('zones')
      const zoneGroups = namedGroups([{ ...group, strategy, source: { ...group.source, kind, entity } }])
      const read = configuration.safeParse({ ...newConfiguration('GEOFENCING'), zoneGroups })
      assert(read.success, `${kind} ${strategy}: ${read.error?.message}`)
    }
})
