/** What rule nodes see of the services: a source for each capability, bound to the tenant of the node. */
import type { CapabilitySources } from '../engine/rulechain/capabilities.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import { nodeAttributes } from './node-capabilities/attributes.ts'
import { nodeCalls } from './node-capabilities/calls.ts'
import { nodeTelemetry } from './node-capabilities/telemetry.ts'
import type { Services } from './services.ts'

export function nodeCapabilitiesOf(
  services: Pick<Services, 'telemetry' | 'attributes' | 'queues' | 'calls' | 'movedDevices'>,
  scripts: ScriptHost,
): CapabilitySources {
  const { queues } = services
  return {
    attributes: nodeAttributes(services),
    calls: nodeCalls(services),
    queues: () => ({ linkName: (tenantId, name) => queues.linkName(tenantId, name) }),
    scripts: () => scripts,
    telemetry: nodeTelemetry(services),
  }
}
