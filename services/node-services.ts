/** What rule nodes see of the services. */
import type { NodeServices } from '../engine/rulechain/node.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { Services } from './services.ts'

export function nodeServicesOf(
  services: Pick<Services, 'telemetry' | 'attributes' | 'queues' | 'calls'>,
  scripts: ScriptHost,
): NodeServices {
  const { telemetry, attributes, queues, calls } = services
  return {
    telemetry: { save: (request, done) => telemetry.save(request, done) },
    attributes: {
      save: (request) => attributes.save(request),
      find: async (_tenantId, entity, scope, keys) => (await attributes.find(entity, scope, keys)).value,
    },
    calls: {
      toDevice: (call) => calls.toDevice(call),
      replyToDevice: (serviceId, sessionId, body) => calls.replyToDevice(serviceId, sessionId, body),
      answer: (serviceId, requestId, body) => calls.answer(serviceId, requestId, body),
    },
    queues: { linkName: (tenantId, name) => queues.linkName(tenantId, name) },
    scripts,
  }
}
