/** What rule nodes see of the services. */
import type { NodeServices } from '../engine/rulechain/node.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { Services } from './services.ts'

export function nodeServicesOf(
  services: Pick<Services, 'telemetry' | 'attributes' | 'queues'>,
  scripts: ScriptHost,
): NodeServices {
  const { telemetry, attributes, queues } = services
  return {
    telemetry: { save: (request, done) => telemetry.save(request, done) },
    attributes: {
      save: (request) => attributes.save(request),
      find: async (_tenantId, entity, scope, keys) => (await attributes.find(entity, scope, keys)).value,
    },
    queues: { linkName: (tenantId, name) => queues.linkName(tenantId, name) },
    scripts,
  }
}
