/** What a client said goes to the platform: telemetry and attributes, told once both are durable. */
import type { DeviceSession, MillraceError } from '../../engine/device/gateway.ts'
import type { Uplink } from './uplink.ts'

export interface Settled {
  stored(): void
  refused(error: MillraceError): void
}

export function store(session: DeviceSession, { telemetry, attributes }: Uplink, settled: Settled): void {
  let left = (telemetry.length > 0 ? 1 : 0) + (attributes.length > 0 ? 1 : 0)
  let isRefused = false
  if (left === 0) {
    session.touch()
    return settled.stored()
  }
  const receipt = {
    stored: () => {
      if (--left === 0 && !isRefused) settled.stored()
    },
    refused: (error: MillraceError) => {
      if (isRefused) return
      isRefused = true
      settled.refused(error)
    },
  }
  if (telemetry.length > 0) session.postTelemetry(telemetry, receipt)
  if (attributes.length > 0) session.postAttributes(attributes, receipt)
}
