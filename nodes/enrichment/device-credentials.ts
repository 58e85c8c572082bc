/** Adds the credentials of the originator (`rule-nodes.md` 14). */
import { z } from 'zod'
import { parseJson } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import type { NodeDeviceCredentials } from '../../engine/rulechain/capabilities/entities.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { checkTarget, fetchTo, withFetched } from './fetched.ts'
import { fetchToUpgrade } from '../upgrade.ts'

export const deviceCredentials = defineNode({
  type: 'org.thingsboard.rule.engine.metadata.TbFetchDeviceCredentialsNode',
  name: 'fetch device credentials',
  category: 'ENRICHMENT',
  relations: ['Success'],
  description:
    'Adds credentialsType and credentials of the originator, a device: its token, its certificate, or JSON. They are secrets: whoever sees the message has them.',
  configurationVersion: 1,
  configuration: z.looseObject({ fetchTo }),
  defaults: { fetchTo: 'METADATA' },
  examples: [
    {
      title: 'an asset has none',
      configuration: { fetchTo: 'METADATA' },
      given: { data: '{"a":1}', originatorType: 'ASSET' },
      expect: { relations: ['Failure'] },
    },
  ],
  // As in the reference.
  unknownKeys: 'accepted',
  upgrade: fetchToUpgrade('fetchToMetadata', 'METADATA'),
  uses: ['entities'],
  create: (configuration, { services }) => ({
    handle: async (message) => {
      const { entityType, id } = message.originator
      if (entityType !== 'DEVICE') throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: 'DEVICE' })
      checkTarget(message, configuration.fetchTo)
      const found = await services.entities.credentialsOf(id)
      if (found === undefined) throw NodeErrors.ENTITY_GONE({ type: entityType, id })
      const fetched = [
        ['credentialsType', found.credentialsType],
        ['credentials', secretOf(found)],
      ] as const
      return { message: withFetched(message, configuration.fetchTo, fetched), relations: ['Success'] }
    },
  }),
})

function secretOf({ credentialsType, credentialsId, credentialsValue }: NodeDeviceCredentials): JsonValue {
  if (credentialsType === 'ACCESS_TOKEN') return credentialsId
  const text = credentialsValue ?? ''
  return credentialsType === 'X509_CERTIFICATE' ? text : parseJson(text)
}
