/** Removes members from the body or the metadata (`rule-nodes.md` 26). */
import { z } from 'zod'
import { isJsonObject } from '../../model/json.ts'
import { setMember } from '../../model/members.ts'
import { withBody } from '../body.ts'
import { defineNode, ofField, orZero, requireField } from '../define-node.ts'
import { keyPatterns } from '../key-patterns.ts'
import { sourceUpgrade } from '../upgrade.ts'

export const deleteKeys = defineNode({
  type: 'org.thingsboard.rule.engine.transform.TbDeleteKeysNode',
  name: 'delete key-value pairs',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'Removes top-level members of the body, or keys of the metadata. A body that is no object stays as it is.',
  configurationVersion: 2,
  configuration: z.looseObject({
    deleteFrom: z
      .enum(['DATA', 'METADATA'])
      .nullish()
      .meta({ title: 'Delete from', description: 'Where the keys are.' }),
    keys: orZero(z.array(z.string()), []).meta({
      title: 'Keys',
      description: 'Regular expressions that match a key whole.',
    }),
  }),
  defaults: { deleteFrom: 'DATA', keys: [] },
  examples: [
    {
      title: 'from the body',
      configuration: { deleteFrom: 'DATA', keys: ['temp', 'x.*'] },
      given: { data: '{"temp":1,"hum":2.0,"x1":3,"ax":4}' },
      expect: { relations: ['Success'], data: '{"hum":2.0,"ax":4}' },
    },
    {
      title: 'from the metadata',
      configuration: { deleteFrom: 'METADATA', keys: ['ts', 'dev.*'] },
      given: { data: '[]', metadata: { ts: '1', deviceName: 'A', other: 'x' } },
      expect: { relations: ['Success'], data: '[]', metadata: { other: 'x' } },
    },
  ],
  upgrade: sourceUpgrade('deleteFrom', ['fromMetadata', 'dataToFetch']),
  create: async ({ deleteFrom, keys }) => {
    requireField(
      deleteFrom === 'DATA' || deleteFrom === 'METADATA',
      'delete key-value pairs',
      'deleteFrom',
      'expected DATA or METADATA',
    )
    const patterns = await ofField('keys', () => keyPatterns(keys))
    return {
      handle: (message) => {
        const members = deleteFrom === 'DATA' ? message.json() : message.metadata
        if (!isJsonObject(members)) return 'Success'
        const doomed = new Set(patterns.choose(members).map(([key]) => key))
        if (doomed.size === 0) return 'Success'
        const changed =
          deleteFrom === 'DATA'
            ? withBody(message, without(members, doomed))
            : message.with({ metadata: without(message.metadata, doomed) })
        return { message: changed, relations: ['Success'] }
      },
    }
  },
})

function without<Value>(members: Readonly<Record<string, Value>>, doomed: ReadonlySet<string>): Record<string, Value> {
  const left: Record<string, Value> = {}
  for (const [key, value] of Object.entries(members)) if (!doomed.has(key)) setMember(left, key, value)
  return left
}
