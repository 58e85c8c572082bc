/** What rule nodes may call outside, as the settings say it. */
import { hostname } from 'node:os'
import type { Config } from '../config/settings.ts'
import { systemClock } from '../model/system-clock.ts'
import { DEFAULT_OUTBOUND_SETTINGS, Outbound } from '../services/outbound/outbound.ts'

const MEBIBYTE = 2 ** 20
/** One tenant's part of the memory. */
const TENANTS_PART = 4

export function openOutbound(config: Config): Outbound {
  const bytes = config.outboundMegabytes * MEBIBYTE
  return new Outbound({
    clock: systemClock,
    settings: {
      ...DEFAULT_OUTBOUND_SETTINGS,
      allowedAddresses: config.outboundAllowedAddresses,
      deniedAddresses: config.outboundDeniedAddresses,
      timeoutMs: config.outboundTimeoutMs,
      calls: config.outboundCalls,
      tenantCalls: config.outboundTenantCalls,
      nodeCalls: config.outboundNodeCalls,
      bytes,
      tenantBytes: bytes / TENANTS_PART,
      forceAck: config.externalForceAck,
      serviceId: config.serviceId ?? hostname(),
    },
  })
}
