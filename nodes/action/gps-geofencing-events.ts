/** Tells when an originator comes into a perimeter, leaves it, and has been on one side for a while (`rule-nodes.md` 48). */
import { z } from 'zod'
import type { EntityId } from '../../model/entity-id.ts'
import { parseJson, stringifyJson } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { Attribute } from '../../model/value.ts'
import type { StateTurn } from '../../engine/rulechain/capabilities/state.ts'
import { defineNode, orZero } from '../define-node.ts'
import { PERIMETER_DEFAULTS, insideCheck, perimeterConfiguration } from '../geo/perimeter.ts'
import { UNIT_MS } from '../time-unit.ts'

const STATE = z.object({ inside: z.boolean(), stateSwitchTime: z.number(), stayed: z.boolean() })
type State = z.output<typeof STATE>

const unit = z.enum(['MILLISECONDS', 'SECONDS', 'MINUTES', 'HOURS', 'DAYS'])

export const gpsGeofencingEvents = defineNode({
  type: 'org.thingsboard.rule.engine.geo.TbGpsGeofencingActionNode',
  name: 'gps geofencing events',
  category: 'ACTION',
  relations: ['Success', 'Entered', 'Left', 'Inside', 'Outside'],
  description:
    'Entered and Left when the side of the perimeter changes; Inside and Outside on each message, or once after a stay. The side is remembered, and told in a server attribute.',
  configurationVersion: 1,
  configuration: perimeterConfiguration.extend({
    minInsideDuration: orZero(z.int(), 0).meta({ title: 'Stay inside', description: 'Before Inside is told.' }),
    minOutsideDuration: orZero(z.int(), 0).meta({ title: 'Stay outside', description: 'Before Outside is told.' }),
    minInsideDurationTimeUnit: orZero(unit, 'MINUTES').meta({ title: 'Its unit', description: 'Of the stay inside.' }),
    minOutsideDurationTimeUnit: orZero(unit, 'MINUTES').meta({
      title: 'Its unit',
      description: 'Of the stay outside.',
    }),
    reportPresenceStatusOnEachMessage: orZero(z.boolean(), false).meta({
      title: 'On each message',
      description: 'Inside or Outside each time; otherwise once after the stay, and Success else.',
    }),
  }),
  defaults: {
    ...PERIMETER_DEFAULTS,
    ...{ minInsideDuration: 1, minOutsideDuration: 1 },
    ...{ minInsideDurationTimeUnit: 'MINUTES', minOutsideDurationTimeUnit: 'MINUTES' },
    reportPresenceStatusOnEachMessage: true,
  },
  editor: { form: 'tbActionNodeGpsGeofencingConfig' },
  examples: [],
  upgrade: (configuration, fromVersion) =>
    fromVersion === 0 ? { reportPresenceStatusOnEachMessage: false, ...configuration } : configuration,
  uses: ['state', 'attributes'],
  effects: true,
  create: (configuration, { services: { state, attributes }, tenantId }) => {
    const isInside = insideCheck(configuration)
    const stays = {
      inside: configuration.minInsideDuration * UNIT_MS[configuration.minInsideDurationTimeUnit],
      outside: configuration.minOutsideDuration * UNIT_MS[configuration.minOutsideDurationTimeUnit],
    }
    /** By the message that did it: told in attributes once it is durable, for what is refused must be told anew. */
    const changed = new WeakMap<Message, readonly [EntityId, State]>()
    const change = (turn: StateTurn<State>, message: Message, next: State): void => {
      turn.set(next)
      if (turn.entity !== undefined) changed.set(message, [turn.entity, next])
    }
    const takeChange = (message: Message | undefined): readonly [EntityId, State] | undefined => {
      const change = message && changed.get(message)
      if (message !== undefined) changed.delete(message)
      return change
    }
    const keyed = state.keyed<State, State | null>({
      per: 'originator',
      parse: (stored) => STATE.parse(stored),
      read: async ({ originator }, remembered) =>
        remembered ?? stateOf(await attributes.find(originator, 'SERVER_SCOPE', [state.serviceId])),
      handle(turn, message, stored) {
        const inside = isInside(message)
        const before = turn.state ?? stored ?? undefined
        if (before?.inside !== inside) {
          change(turn, message, { inside, stateSwitchTime: turn.now, stayed: false })
          return inside ? 'Entered' : 'Left'
        }
        const side = inside ? 'Inside' : 'Outside'
        // Set though it is the same: the message says the same when it comes again.
        if (configuration.reportPresenceStatusOnEachMessage) turn.set(before)
        if (configuration.reportPresenceStatusOnEachMessage) return side
        const hasStayed = turn.now - before.stateSwitchTime > (inside ? stays.inside : stays.outside)
        if (before.stayed || !hasStayed) {
          turn.set(before)
          return 'Success'
        }
        change(turn, message, { ...before, stayed: true })
        return side
      },
    })
    return {
      handleBatch: async (messages, result) => {
        const told = new Map<string, readonly [EntityId, State]>()
        await keyed.handleBatch?.(messages, {
          visit: (index) => result.visit(index),
          emit: (index, output) => {
            const change = takeChange(messages[index])
            if (change !== undefined) told.set(change[0].id, change)
            result.emit(index, output)
          },
          fail: (index, error) => {
            takeChange(messages[index])
            result.fail(index, error)
          },
        })
        await Promise.all(
          [...told.values()].map(([entity, value]) =>
            attributes.save({
              ...{
                tenantId,
                entity,
                scope: 'SERVER_SCOPE',
                sequence: 0,
                store: true,
                notify: false,
                notifyDevice: false,
              },
              entries: [{ key: state.serviceId, type: 'STRING', value: stringifyJson(value) }],
            }),
          ),
        )
      },
      close: () => keyed.close?.(),
    }
  },
})

/** What an attribute says; nothing where it is another's. */
function stateOf([attribute]: readonly Attribute[]): State | null {
  if (attribute === undefined || (attribute.type !== 'JSON' && attribute.type !== 'STRING')) return null
  try {
    return STATE.parse(parseJson(attribute.value))
  } catch {
    return null
  }
}
