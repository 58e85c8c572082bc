/** What must work for a process to be of use: its stores answer, and its link takes messages. */
import type { HealthCheck } from '../api/rest/system-routes.ts'
import type { Stores } from './stores.ts'

/** An id that no entity has: the stores look for it all the same. */
const NOBODY = '00000000-0000-4000-8000-000000000000'

export function healthChecksOf(stores: Omit<Stores, 'metricsSources'>): readonly HealthCheck[] {
  const { entities, timeSeries, link, troubles } = stores
  return [
    {
      name: 'entities',
      check: async () => {
        await entities.settings.find('health')
        // Users do not try again by themselves: where nobody changes anything, this is what finds the disk well again.
        if (troubles.entities?.() !== undefined) await entities.settings.put('health', true)
      },
    },
    {
      name: 'timeSeries',
      check: async () => {
        await timeSeries.keys(NOBODY)
        const trouble = troubles.timeSeries?.()
        if (trouble !== undefined) throw new Error(trouble)
      },
    },
    {
      name: 'link',
      note: () => link.durability?.text,
      check: async () => {
        if (link.connected === false) throw new Error('NATS is away')
        if (!link.writable) throw new Error('over its bound, or its disk fails')
        if (link.trouble !== undefined) throw new Error(link.trouble)
      },
    },
  ]
}
