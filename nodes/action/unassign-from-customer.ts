/** Takes the originator from its customer (`rule-nodes.md` 34). */
import { z } from 'zod'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { assignable } from './customer-assignment.ts'
import { withoutMember } from './upgrades.ts'

export const unassignFromCustomer = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbUnassignFromCustomerNode',
  name: 'unassign from customer',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Takes the originator from the customer that has it. A dashboard, which several may have, is taken from the customer of the given title. Success also where it was not assigned.',
  configurationVersion: 1,
  configuration: z.looseObject({
    customerNamePattern: orZero(z.string(), '').meta({
      title: 'Customer title',
      description: 'Of dashboards only. May hold ${metadata} and $[data].',
    }),
  }),
  defaults: { customerNamePattern: '' },
  examples: [
    {
      title: 'a dashboard without a title of the customer',
      configuration: { customerNamePattern: '' },
      given: { data: '{}', originatorType: 'DASHBOARD' },
      expect: { relations: ['Failure'] },
    },
    {
      title: 'a tenant can not be assigned',
      configuration: { customerNamePattern: '' },
      given: { data: '{}', originatorType: 'TENANT' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: (configuration) => withoutMember(configuration, 'customerCacheExpiration'),
  uses: ['entities'],
  effects: true,
  create: ({ customerNamePattern }, { services: { entities } }) => {
    const titleOf = pattern(customerNamePattern)
    return {
      handle: async (message) => {
        const entity = assignable(message)
        if (entity.entityType !== 'DASHBOARD') {
          await entities.unassignFromCustomer(entity, undefined)
          return 'Success'
        }
        const title = titleOf(message)
        const customer = title === '' ? undefined : await entities.findByName('CUSTOMER', title)
        if (customer === undefined) throw NodeErrors.ENTITY_MISSING({ type: 'Customer', name: title })
        await entities.unassignFromCustomer(entity, customer.id.id)
        return 'Success'
      },
    }
  },
})
