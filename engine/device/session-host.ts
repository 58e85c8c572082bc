/** What a session sees of the gateway. */
import type { Clock } from '../../model/clock.ts'
import type { AttributeScope, Entry } from '../../model/value.ts'
import type { Link } from '../link/link.ts'
import type { DeviceRecord } from './device-record.ts'
import type { DeviceIdentity } from './gateway.ts'
import type { MessageIds } from './message-ids.ts'

export interface SessionHost {
  readonly link: Link
  readonly clock: Clock
  readonly ids: MessageIds
  nextSessionId(): number
  /** Notes that the device sent what the link takes on; returns the present time. */
  heard(record: DeviceRecord): number
  /** Notes that the device was heard, and that no message will say so. */
  touched(record: DeviceRecord): void
  recordOf(device: DeviceIdentity): DeviceRecord
  readAttributes(
    record: DeviceRecord,
    scope: AttributeScope,
    keys: readonly string[] | 'all' | undefined,
  ): Promise<readonly Entry[]>
}
