/** ENTITY_DATA: the entities of a query with their values, and what changes of them. Source: `websocket-api.md` 6. */
import { dataQueryOf } from '../../entity-query.ts'
import { defineCommand } from '../define-command.ts'
import { EntityDataSubscription } from '../entity-data/subscription.ts'
import { entityDataFields, subCommandsOf } from '../entity-data/sub-commands.ts'
import { CommandErrors } from '../errors.ts'

const ALL_DEVICES = { type: 'entityType', entityType: 'DEVICE' }

export const entityData = defineCommand({
  type: 'ENTITY_DATA',
  legacy: { telemetry: 'entityDataCmds' },
  unsubscribe: { type: 'ENTITY_DATA_UNSUBSCRIBE', kind: 'query', legacy: { telemetry: 'entityDataUnsubscribeCmds' } },
  fields: entityDataFields,
  examples: ({ deviceId = '' }) =>
    [{ type: 'singleEntity', singleEntity: { entityType: 'DEVICE', id: deviceId } }, ALL_DEVICES].map(
      (entityFilter) => ({
        query: {
          entityFilter,
          pageLink: { page: 0, pageSize: 100 },
          entityFields: [{ type: 'ENTITY_FIELD', key: 'name' }],
        },
        latestCmd: {
          keys: [
            { type: 'TIME_SERIES', key: 'secretSeries' },
            { type: 'SERVER_ATTRIBUTE', key: 'secretAttribute' },
          ],
        },
        tsCmd: { keys: ['secretSeries'], startTs: 1, timeWindow: 2_000_000_000_000 },
      }),
    ),
  async start(command, context) {
    const { cmdId, query } = command
    const { live } = context
    const subCommands = subCommandsOf(command)
    if (query === undefined || query === null) {
      const known = live.find('query', cmdId)
      // Goes on with the entities that its query found.
      if (subCommands === undefined || !(known instanceof EntityDataSubscription)) throw CommandErrors.QUERY_EMPTY()
      return known.goOn(subCommands)
    }
    const subscription = new EntityDataSubscription(cmdId, dataQueryOf(query), context)
    if (!live.add(subscription)) return subscription.close()
    try {
      await subscription.start(subCommands)
    } catch (error) {
      live.forget(subscription)
      throw error
    }
  },
})
