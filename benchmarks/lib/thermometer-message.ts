/** A message of telemetry as the benchmarks of the link send it: one of a hundred thermometers, some 60 bytes of values. */
import { randomUUID } from 'node:crypto'
import { Message } from '../../model/message.ts'

const devices = Array.from({ length: 100 }, () => ({ entityType: 'DEVICE' as const, id: randomUUID() }))
const ids = Array.from({ length: 10_000 }, () => randomUUID())
const tenantId = randomUUID()

/** The so many-th; one of 10,000 ids. */
export function messageOf(number: number): Message {
  const device = number % devices.length
  return new Message({
    id: ids[number % ids.length] ?? '',
    ts: 1_700_000_000_000 + number,
    type: 'POST_TELEMETRY_REQUEST',
    tenantId,
    originator: devices[device] ?? { entityType: 'DEVICE', id: '' },
    metadata: { deviceName: `Thermometer ${device}`, deviceType: 'default', ts: String(1_700_000_000_000 + number) },
    data: `{"temperature":${20 + (number % 10)}.5,"humidity":${number % 100},"pressure":1013}`,
  })
}
