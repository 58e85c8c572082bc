/** External nodes with the real policy and clients, for services that a test starts on this machine. */
import type { CapabilityName } from '../../engine/rulechain/capabilities.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { OutboundSettings } from '../../services/outbound/outbound.ts'
import { testOutbound } from '../../services/outbound/testkit.ts'
import { testContext } from '../testkit.ts'

/** Only loopback may be called. */
export function outsideContext(settings: Partial<OutboundSettings> = {}): NodeContext<CapabilityName> {
  const context = testContext()
  return { ...context, services: { ...context.services, outbound: testOutbound(settings).ofNode(context) } }
}
