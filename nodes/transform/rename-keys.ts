/** Gives members of the body or of the metadata other names (`rule-nodes.md` 28). */
import { z } from 'zod'
import { isJsonObject } from '../../model/json.ts'
import { membersOf } from '../../model/members.ts'
import { withBody } from '../body.ts'
import { defineNode, requireField } from '../define-node.ts'
import { sourceUpgrade } from '../upgrade.ts'

export const renameKeys = defineNode({
  type: 'org.thingsboard.rule.engine.transform.TbRenameKeysNode',
  name: 'rename keys',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'Renames top-level members; absent ones are passed over, a member that already has the new name is overwritten. A key renamed to itself is removed.',
  configurationVersion: 2,
  configuration: z.looseObject({
    renameIn: z.enum(['DATA', 'METADATA']).nullish().meta({ title: 'Rename in', description: 'Where the keys are.' }),
    renameKeysMapping: z
      .record(z.string(), z.string())
      .meta({ title: 'Names', description: 'From the old name to the new one.' }),
  }),
  defaults: { renameIn: 'DATA', renameKeysMapping: { temperatureCelsius: 'temperature' } },
  examples: [
    {
      title: 'a member of the body',
      configuration: { renameIn: 'DATA', renameKeysMapping: { a: 'b' } },
      given: { data: '{"a":1.0,"b":2,"c":3}' },
      expect: { relations: ['Success'], data: '{"c":3,"b":1.0}' },
    },
    {
      title: 'a key renamed to itself is removed',
      configuration: { renameIn: 'METADATA', renameKeysMapping: { a: 'a' } },
      given: { data: '{}', metadata: { a: '1', b: '2' } },
      expect: { relations: ['Success'], metadata: { b: '2' } },
    },
  ],
  upgrade: sourceUpgrade('renameIn', ['fromMetadata', 'fromMetadata']),
  create: ({ renameIn, renameKeysMapping }) => {
    requireField(renameIn === 'DATA' || renameIn === 'METADATA', 'rename keys', 'renameIn', 'expected DATA or METADATA')
    const mapping = Object.entries(renameKeysMapping)
    requireField(mapping.length > 0, 'rename keys', 'renameKeysMapping', 'at least one key is needed')
    return {
      handle: (message) => {
        const members = renameIn === 'DATA' ? message.json() : message.metadata
        if (!isJsonObject(members)) return 'Success'
        if (!mapping.some(([from]) => Object.hasOwn(members, from))) return 'Success'
        const changed =
          renameIn === 'DATA'
            ? withBody(message, renamed(members, mapping))
            : message.with({ metadata: renamed(message.metadata, mapping) })
        return { message: changed, relations: ['Success'] }
      },
    }
  },
})

/** One name after the other, so that a later one may rename what an earlier one made; the old name goes last. */
function renamed<Value>(
  members: Readonly<Record<string, Value>>,
  mapping: readonly (readonly [string, string])[],
): Record<string, Value> {
  const result = new Map(Object.entries(members))
  for (const [from, to] of mapping) {
    const value = result.get(from)
    if (value === undefined) continue
    result.delete(to)
    result.set(to, value)
    result.delete(from)
  }
  return membersOf(result)
}
