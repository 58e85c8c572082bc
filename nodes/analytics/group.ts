/** Which entities a node aggregates, and when: the part of the form that all of these nodes have. */
import { z } from 'zod'
import { ENTITY_TYPES, entityId, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { MEMBER_TYPES, type MemberSelection } from '../../engine/rulechain/capabilities/aggregation.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import { requireField } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { customerOf, direction } from '../related.ts'

const LONGEST_SEC = 7 * 86_400
const MAX_NAMED = 100

export const groupConfiguration = {
  trigger: z.enum(['PERIOD', 'MESSAGE']).meta({
    title: 'Trigger',
    description: 'PERIOD: by the clock, and messages end here. MESSAGE: each message that comes.',
  }),
  periodSec: z
    .int()
    .min(1)
    .max(LONGEST_SEC)
    .meta({ title: 'Period', description: 'Seconds, counted from 1970. Of the trigger PERIOD.' }),
  parent: z.enum(['TENANT', 'ENTITY', 'ORIGINATOR', 'CUSTOMER', 'PROFILE']).meta({
    title: 'Parent',
    description: 'Whose entities count, and whose telemetry the result is. PERIOD allows TENANT and ENTITY.',
  }),
  parentType: z.enum(ENTITY_TYPES).nullish().meta({ title: 'Parent type', description: 'Of the parent ENTITY.' }),
  parentId: z.string().nullish().meta({ title: 'Parent id', description: 'Of the parent ENTITY.' }),
  members: z.enum(['OWNED', 'RELATED']).meta({
    title: 'Entities',
    description:
      'OWNED: of the tenant, assigned to the customer, of the profile. RELATED: by relations from the parent.',
  }),
  entityType: z.enum(MEMBER_TYPES).meta({ title: 'Entity type', description: 'Devices or assets.' }),
  profiles: z
    .array(z.string().min(1))
    .max(MAX_NAMED)
    .meta({ title: 'Profiles', description: 'Names; without any all profiles count.' }),
  relations: z
    .strictObject({
      direction,
      relationTypes: z
        .array(z.string().min(1))
        .max(MAX_NAMED)
        .meta({ title: 'Relation types', description: 'Without any all types count.' }),
      maxLevel: z.int().min(0).max(100).meta({ title: 'Levels', description: '0 is without limit.' }),
      fetchLastLevelOnly: z.boolean().meta({ title: 'Last level only', description: 'Not those between.' }),
    })
    .meta({ title: 'Relations', description: 'Of the entities RELATED.' }),
}

export const GROUP_DEFAULTS = {
  ...{ trigger: 'PERIOD', periodSec: 60, parent: 'TENANT', parentType: null, parentId: null },
  ...{ members: 'OWNED', entityType: 'DEVICE', profiles: [] },
  relations: { direction: 'FROM', relationTypes: ['Contains'], maxLevel: 1, fetchLastLevelOnly: false },
}

export type GroupConfiguration = z.output<z.ZodObject<typeof groupConfiguration>>

/** With a period they need no message. */
export function isPeriodic({ trigger }: JsonObject): boolean {
  return trigger === 'PERIOD'
}

/** Where a value of each entity comes from. */
export const memberKey = {
  source: z
    .enum(['LATEST_TELEMETRY', 'SERVER_SCOPE', 'SHARED_SCOPE', 'CLIENT_SCOPE'])
    .meta({ title: 'Source', description: 'Latest telemetry, or attributes of a scope.' }),
  key: z.string().min(1).max(255).meta({ title: 'Key', description: 'Of the series or attribute.' }),
}

export function selectionOf({ members, relations, entityType, profiles }: GroupConfiguration): MemberSelection {
  return { entityType, profiles, related: members === 'RELATED' ? relations : undefined }
}

/** The parent of a period: it is known before any message. Throws `CONFIGURATION_INVALID`, `ORIGINATOR_UNKNOWN`. */
export async function fixedParent(
  { parent, parentType, parentId }: GroupConfiguration,
  { tenantId, ruleNodeName: node, services }: NodeContext<'entities'>,
): Promise<EntityId | undefined> {
  if (parent === 'TENANT') return entityId('TENANT', tenantId)
  if (parent !== 'ENTITY') return undefined
  requireField(typeof parentType === 'string', node, 'parentType', 'is missing')
  requireField(typeof parentId === 'string' && parentId !== '', node, 'parentId', 'is missing')
  const named = entityId(parentType, parentId)
  // Messages of what is not the tenant's would write there.
  if ((await services.entities.find(named)) === undefined) {
    throw NodeErrors.ORIGINATOR_UNKNOWN({ type: parentType, id: parentId })
  }
  return named
}

/** Throws `ENTITY_GONE`, `NO_CUSTOMER`, `UNSUPPORTED_ORIGINATOR`. */
export async function parentOf(
  message: Message,
  parent: GroupConfiguration['parent'],
  fixed: EntityId | undefined,
  { services: { entities } }: NodeContext<'entities'>,
): Promise<EntityId> {
  if (fixed !== undefined) return fixed
  const { originator } = message
  if (parent === 'CUSTOMER') {
    const customer = await customerOf(entities, originator)
    if (customer === undefined) throw NodeErrors.NO_CUSTOMER()
    return customer
  }
  if (parent !== 'PROFILE') return originator
  if (originator.entityType === 'DEVICE_PROFILE' || originator.entityType === 'ASSET_PROFILE') return originator
  const entity = await entities.find(originator)
  if (entity === undefined) throw NodeErrors.ENTITY_GONE({ type: originator.entityType, id: originator.id })
  if (entity.profile === null) {
    throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: originator.entityType, expected: 'one that has a profile' })
  }
  return entity.profile.id
}
