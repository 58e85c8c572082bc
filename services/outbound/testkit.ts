/** The real policy on the real clock, for tests against services on this machine. */
import { systemClock } from '../../model/system-clock.ts'
import { DEFAULT_OUTBOUND_SETTINGS, Outbound, type OutboundSettings } from './outbound.ts'

export function testOutbound(settings: Partial<OutboundSettings> = {}): Outbound {
  const loopback = { allowedAddresses: ['127.0.0.0/8', '::1'] }
  return new Outbound({ clock: systemClock, settings: { ...DEFAULT_OUTBOUND_SETTINGS, ...loopback, ...settings } })
}
