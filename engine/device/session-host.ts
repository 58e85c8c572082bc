/** What a session sees of the gateway. */
import type { Clock } from '../../model/clock.ts'
import type { SessionCalls } from './calls/session-calls.ts'
import type { DeviceRecord } from './device-record.ts'
import type { DeviceIdentity } from './gateway.ts'
import type { DeviceOnboarding } from './onboarding.ts'
import type { SessionEvent } from './session-events.ts'
import type { TransportRates } from './transport-rates.ts'
import type { Uploads } from './uploads.ts'

export interface SessionHost {
  readonly clock: Clock
  readonly uploads: Uploads
  /** Absent where no calls are served. */
  readonly calls: SessionCalls | undefined
  /** Absent where devices are only served that are there. */
  readonly onboarding: DeviceOnboarding | undefined
  /** Absent where nobody limits what devices send. */
  readonly rates: TransportRates | undefined
  nextSessionId(): number
  /** Notes that the device sent what the link takes on; returns the present time. */
  heard(record: DeviceRecord): number
  /** Notes that the device was heard, and that no message will say so. */
  touched(record: DeviceRecord): void
  recordOf(device: DeviceIdentity): DeviceRecord
  /** To its actor, and again until that takes it: what waits there must not keep a session that is over. */
  tellSurely(record: DeviceRecord, event: SessionEvent): void
}
