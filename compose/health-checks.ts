/** What must work for a process to be of use: its stores answer, and its link takes messages. */
import type { HealthCheck } from '../api/rest/system-routes.ts'
import type { Stores } from './stores.ts'

/** An id that no entity has: the stores look for it all the same. */
const NOBODY = '00000000-0000-4000-8000-000000000000'

export function healthChecksOf({ entities, timeSeries, link }: Omit<Stores, 'metricsSources'>): readonly HealthCheck[] {
  return [
    { name: 'entities', check: async () => void (await entities.settings.find('health')) },
    { name: 'timeSeries', check: async () => void (await timeSeries.keys(NOBODY)) },
    {
      name: 'link',
      note: () => link.durability?.text,
      check: async () => {
        if (link.connected === false) throw new Error('NATS is away')
        if (!link.writable) throw new Error('over its bound')
      },
    },
  ]
}
