/** Routes a message by the name of its originator's profile (`rule-nodes.md` 1, 5): a profile that is renamed is another way at once. */
import type { EntityType } from '../../model/entity-id.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { EMPTY_DEFAULTS, defineNode, readEmptyConfiguration } from '../define-node.ts'
import type { RuleNodeDefinition } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

function profileSwitch(originatorType: EntityType, type: string, other: EntityType): RuleNodeDefinition {
  const what = originatorType.toLowerCase()
  return defineNode({
    type: `org.thingsboard.rule.engine.filter.${type}`,
    name: `${what} profile switch`,
    category: 'FILTER',
    relations: 'custom',
    description: `Routes by the name of the ${what}'s profile, without regard to case. Other originators take Failure.`,
    configuration: readEmptyConfiguration,
    defaults: EMPTY_DEFAULTS,
    examples: [
      {
        title: 'another originator',
        configuration: {},
        given: { data: '{}', originatorType: other },
        expect: { relations: ['Failure'] },
      },
    ],
    uses: ['entities'],
    create: (_configuration, { services }) => ({
      handle: ({ originator }) => {
        const { entityType, id } = originator
        if (entityType !== originatorType) {
          throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: originatorType })
        }
        return whenThere(services.entities.find(originator), (entity) => {
          if (entity === undefined) throw NodeErrors.ENTITY_GONE({ type: entityType, id })
          if (entity.profile === null) throw NodeErrors.ENTITY_GONE({ type: `${entityType} with a profile:`, id })
          return entity.profile.name
        })
      },
    }),
  })
}

export const assetProfileSwitch = profileSwitch('ASSET', 'TbAssetTypeSwitchNode', 'DEVICE')
export const deviceProfileSwitch = profileSwitch('DEVICE', 'TbDeviceTypeSwitchNode', 'ASSET')
