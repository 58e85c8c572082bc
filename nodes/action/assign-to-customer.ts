/** Gives the originator to a customer (`rule-nodes.md` 33). */
import { z } from 'zod'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { assignable } from './customer-assignment.ts'
import { withoutMember } from './upgrades.ts'

export const assignToCustomer = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbAssignToCustomerNode',
  name: 'assign to customer',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Assigns the device, asset, entity view, dashboard or edge that the message is of to the customer of the given title; a missing customer is made where that is allowed.',
  configurationVersion: 1,
  configuration: z.looseObject({
    customerNamePattern: orZero(z.string(), '').meta({
      title: 'Customer title',
      description: 'May hold ${metadata} and $[data].',
    }),
    createCustomerIfNotExists: orZero(z.boolean(), false).meta({ title: 'Make a missing customer' }),
  }),
  defaults: { customerNamePattern: '', createCustomerIfNotExists: false },
  examples: [
    {
      title: 'a customer that is not there is made',
      configuration: { customerNamePattern: '$[customer]', createCustomerIfNotExists: true },
      given: { data: '{"customer":"Acme"}' },
      expect: { relations: ['Success'], data: '{"customer":"Acme"}' },
    },
    {
      title: 'a customer that is not there, and must not be made',
      configuration: { customerNamePattern: 'Nobody', createCustomerIfNotExists: false },
      given: { data: '{}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade: (configuration) => withoutMember(configuration, 'customerCacheExpiration'),
  uses: ['entities'],
  effects: true,
  create: ({ customerNamePattern, createCustomerIfNotExists }, { services: { entities } }) => {
    const titleOf = pattern(customerNamePattern)
    return {
      handle: async (message) => {
        const entity = assignable(message)
        const title = titleOf(message)
        const customer = createCustomerIfNotExists
          ? (await entities.findOrCreate('CUSTOMER', title)).entity
          : await entities.findByName('CUSTOMER', title)
        if (customer === undefined) throw NodeErrors.ENTITY_MISSING({ type: 'Customer', name: title })
        await entities.assignToCustomer(entity, customer.id.id)
        return 'Success'
      },
    }
  },
})
