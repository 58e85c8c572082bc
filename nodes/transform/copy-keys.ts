/** Copies members of the body into the metadata, or the other way (`rule-nodes.md` 25). */
import { z } from 'zod'
import { isJsonObject } from '../../model/json.ts'
import { mergedMembers } from '../../model/members.ts'
import { metadataText, withBody, withMetadata } from '../body.ts'
import { defineNode, ofField, orZero, requireField } from '../define-node.ts'
import { keyPatterns } from '../key-patterns.ts'
import { sourceUpgrade } from '../upgrade.ts'

export const copyKeys = defineNode({
  type: 'org.thingsboard.rule.engine.transform.TbCopyKeysNode',
  name: 'copy key-value pairs',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'Copies members of the body to the metadata as text, or metadata to the body; what is there is overwritten. A body that is no object stays as it is.',
  configurationVersion: 2,
  configuration: z.looseObject({
    copyFrom: z
      .enum(['DATA', 'METADATA'])
      .nullish()
      .meta({ title: 'Copy from', description: 'Where the members are.' }),
    keys: orZero(z.array(z.string()), []).meta({
      title: 'Keys',
      description: 'Regular expressions that match a key whole.',
    }),
  }),
  defaults: { copyFrom: 'DATA', keys: [] },
  examples: [
    {
      title: 'from the body',
      configuration: { copyFrom: 'DATA', keys: ['temp.*', 'place'] },
      given: { data: '{"temp1":1.0,"atemp":2,"place":"north"}' },
      expect: { relations: ['Success'], metadata: { temp1: '1.0', place: 'north' } },
    },
    {
      title: 'from the metadata',
      configuration: { copyFrom: 'METADATA', keys: ['k'] },
      given: { data: '{"a":1}', metadata: { k: '10' } },
      expect: { relations: ['Success'], data: '{"a":1,"k":"10"}', metadata: { k: '10' } },
    },
  ],
  upgrade: sourceUpgrade('copyFrom', ['fromMetadata', 'fromMetadata']),
  create: async ({ copyFrom, keys }) => {
    requireField(
      copyFrom === 'DATA' || copyFrom === 'METADATA',
      'copy key-value pairs',
      'copyFrom',
      'expected DATA or METADATA',
    )
    const patterns = await ofField('keys', () => keyPatterns(keys))
    return {
      handle: (message) => {
        const body = message.json()
        if (!isJsonObject(body)) return 'Success'
        const chosen = patterns.choose(copyFrom === 'DATA' ? body : message.metadata)
        if (chosen.length === 0) return 'Success'
        const changed =
          copyFrom === 'DATA'
            ? withMetadata(
                message,
                chosen.map(([key, value]) => [key, metadataText(value)] as const),
              )
            : withBody(message, mergedMembers(body, chosen))
        return { message: changed, relations: ['Success'] }
      },
    }
  },
})
