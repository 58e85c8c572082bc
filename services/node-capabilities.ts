/** What rule nodes see of the services: a source for each capability, bound to the tenant of the node. */
import type { CapabilitySources } from '../engine/rulechain/capabilities.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import { nodeAttributes } from './node-capabilities/attributes.ts'
import type { Services } from './services.ts'

export function nodeCapabilitiesOf(
  services: Pick<Services, 'telemetry' | 'attributes' | 'queues' | 'calls'>,
  scripts: ScriptHost,
): CapabilitySources {
  const { telemetry, queues, calls } = services
  return {
    attributes: nodeAttributes(services),
    calls: () => ({
      toDevice: (call) => calls.toDevice(call),
      replyToDevice: (serviceId, sessionId, body) => calls.replyToDevice(serviceId, sessionId, body),
      answer: (serviceId, requestId, body) => calls.answer(serviceId, requestId, body),
    }),
    queues: () => ({ linkName: (tenantId, name) => queues.linkName(tenantId, name) }),
    scripts: () => scripts,
    telemetry: () => ({ save: (request, done) => telemetry.save(request, done) }),
  }
}
