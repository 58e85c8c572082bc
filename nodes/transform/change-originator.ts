/** Lets a message go on as one of another entity (`rule-nodes.md` 24). */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { Soon } from '../../engine/rulechain/capabilities/soon.ts'
import { whenThere } from '../../engine/rulechain/capabilities/soon.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { RELATIONS_DEFAULT, customerOf, firstRelated, relationsQuery } from '../related.ts'

const SOURCES = ['CUSTOMER', 'TENANT', 'RELATED', 'ALARM_ORIGINATOR', 'ENTITY'] as const
const NAMED = ['DEVICE', 'ASSET', 'ENTITY_VIEW', 'EDGE', 'USER'] as const

const configurationSchema = z
  .looseObject({
    originatorSource: z.enum(SOURCES).meta({ title: 'New originator', description: `One of ${SOURCES.join(', ')}.` }),
    relationsQuery: relationsQuery.nullish(),
    entityType: z
      .string()
      .nullish()
      .meta({
        title: 'Entity type',
        description: `For ENTITY: one of ${NAMED.join(', ')}.`,
      }),
    entityNamePattern: z.string().nullish().meta({
      title: 'Entity name',
      description: 'For ENTITY: its name, of a user the e-mail address; may hold patterns.',
    }),
  })
  .superRefine((configuration, context) => {
    const wrong = (member: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [member], message })
    if (configuration.originatorSource === 'RELATED' && (configuration.relationsQuery ?? null) === null)
      wrong('relationsQuery', 'RELATED needs it')
    if (configuration.originatorSource !== 'ENTITY') return
    if (namedType(configuration.entityType) === undefined) wrong('entityType', `expected one of ${NAMED.join(', ')}`)
    if ((configuration.entityNamePattern ?? '') === '') wrong('entityNamePattern', 'ENTITY needs it')
  })

type Configuration = z.output<typeof configurationSchema>
type Context = NodeContext<'alarms' | 'entities' | 'relations'>

export const changeOriginator = defineNode({
  type: 'org.thingsboard.rule.engine.transform.TbChangeOriginatorNode',
  name: 'change originator',
  category: 'TRANSFORMATION',
  relations: ['Success'],
  description:
    'The message goes on as one of the customer, the tenant, a related entity, the alarm’s originator or an entity with a name. Not found: Failure.',
  configuration: configurationSchema,
  defaults: {
    originatorSource: 'CUSTOMER',
    relationsQuery: RELATIONS_DEFAULT,
    entityType: null,
    entityNamePattern: null,
  },
  examples: [
    {
      title: 'the tenant',
      configuration: { originatorSource: 'TENANT' },
      given: { data: 'no JSON', metadata: { a: 'b' } },
      expect: { relations: ['Success'], data: 'no JSON', metadata: { a: 'b' } },
    },
    {
      title: 'a device is no alarm',
      configuration: { originatorSource: 'ALARM_ORIGINATOR' },
      given: { data: '{}' },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['alarms', 'entities', 'relations'],
  create: (configuration, context) => {
    const find = originatorSource(configuration, context)
    return {
      handle: (message) =>
        whenThere(find(message), (originator) => {
          if (originator === undefined) throw NodeErrors.NO_NEW_ORIGINATOR()
          // A customer's message belongs to it, but one that belongs to a customer already keeps it.
          const customerId = message.customerId ?? (originator.entityType === 'CUSTOMER' ? originator.id : undefined)
          return { message: message.with({ originator, customerId }), relations: ['Success'] }
        }),
    }
  },
})

type Source = (message: Message) => Soon<EntityId | undefined>

function originatorSource(configuration: Configuration, context: Context): Source {
  const { alarms, entities, relations } = context.services
  switch (configuration.originatorSource) {
    case 'TENANT': {
      const tenant = entityId('TENANT', context.tenantId)
      return () => tenant
    }
    case 'CUSTOMER':
      return ({ originator }) => customerOf(entities, originator)
    case 'RELATED': {
      const query = relationsQuery.parse(configuration.relationsQuery)
      return ({ originator }) => firstRelated(relations, originator, query)
    }
    case 'ALARM_ORIGINATOR':
      return async ({ originator }) => {
        const { entityType, id } = originator
        if (entityType !== 'ALARM') throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: 'ALARM' })
        return (await alarms.find(id))?.originator
      }
    case 'ENTITY': {
      const type = namedType(configuration.entityType)
      const name = pattern(configuration.entityNamePattern ?? '')
      return async (message) => (type === undefined ? undefined : (await entities.findByName(type, name(message)))?.id)
    }
  }
}

function namedType(type: string | null | undefined): (typeof NAMED)[number] | undefined {
  return NAMED.find((known) => known === type)
}
