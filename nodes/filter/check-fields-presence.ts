/** Looks whether a message has the named keys, whatever their values (`rule-nodes.md` 3). */
import { z } from 'zod'
import { bodyObject } from '../body.ts'
import { defineNode, orZero } from '../define-node.ts'

export const checkFieldsPresence = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbCheckMessageNode',
  name: 'check fields presence',
  category: 'FILTER',
  relations: ['True', 'False'],
  description: 'True where the message has the listed keys; a key with the value null is there.',
  configuration: z.looseObject({
    messageNames: orZero(z.array(z.string()), []).meta({
      title: 'Message fields',
      description: 'Top-level keys of the body.',
    }),
    metadataNames: orZero(z.array(z.string()), []).meta({
      title: 'Metadata fields',
      description: 'Keys of the metadata.',
    }),
    checkAllKeys: orZero(z.boolean(), false).meta({
      title: 'All keys',
      description: 'All of them must be there; otherwise one is enough.',
    }),
  }),
  defaults: { messageNames: [], metadataNames: [], checkAllKeys: true },
  examples: [
    {
      title: 'all keys are there, one with null',
      configuration: { messageNames: ['temperature'], metadataNames: ['deviceName'], checkAllKeys: true },
      given: { data: '{"temperature":null}', metadata: { deviceName: 'A' } },
      expect: { relations: ['True'] },
    },
    {
      title: 'only top-level keys count',
      configuration: { messageNames: ['a.b'], checkAllKeys: false },
      given: { data: '{"a":{"b":1}}' },
      expect: { relations: ['False'] },
    },
  ],
  create: ({ messageNames, metadataNames, checkAllKeys }) => ({
    handle: (message) => {
      const inBody = presence(messageNames, () => bodyObject(message))
      const inMetadata = presence(metadataNames, () => message.metadata)
      return (checkAllKeys ? inBody.all && inMetadata.all : inBody.some || inMetadata.some) ? 'True' : 'False'
    },
  }),
})

/** The body is read only where keys of it are asked for. */
function presence(names: readonly string[], read: () => object): { readonly all: boolean; readonly some: boolean } {
  if (names.length === 0) return { all: true, some: false }
  const members = read()
  const found = names.filter((name) => Object.hasOwn(members, name)).length
  return { all: found === names.length, some: found > 0 }
}
