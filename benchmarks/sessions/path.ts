/**
 * What does a device's mailbox cost a message? The same uploads through sessions and their actors, and straight to the link's door as
 * the session actor calls it, in turns; the link stores at once. Figures are processor time of this thread.
 *
 *   node benchmarks/sessions/path.ts [--devices 100] [--runs 15]
 */
import { parseArgs } from 'node:util'
import { createActorSystem } from '../../engine/actor/system.ts'
import { DeviceRecord } from '../../engine/device/device-record.ts'
import { UsageMeter } from '../../engine/usage/usage.ts'
import { MessageIds } from '../../engine/device/message-ids.ts'
import { Uploads } from '../../engine/device/uploads.ts'
import { LocalDeviceSession } from '../../engine/device/device-session.ts'
import { SessionActor } from '../../engine/device/session-actor.ts'
import type { DeviceIdentity, UploadGroup } from '../../engine/device/gateway.ts'
import type { SessionEvent } from '../../engine/device/session-events.ts'
import type { Message } from '../../model/message.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'

const { values } = parseArgs({
  options: { devices: { type: 'string', default: '100' }, runs: { type: 'string', default: '15' } },
})
const DEVICES = Number(values.devices)
const RUNS = Number(values.runs)
const MESSAGES = 200_000
const NOBODY = { stored: () => undefined, refused: () => undefined }

let stored = 0
const link = {
  publish: (_message: Message, receipt: typeof NOBODY): void => {
    stored++
    receipt.stored()
  },
}
const uploads = new Uploads(link, new MessageIds(systemRandom), new UsageMeter())
const actors = createActorSystem({
  clock: systemClock,
  random: systemRandom,
  onError: ({ error }) => {
    throw error
  },
})
const records = new Map<string, DeviceRecord>()
const host = {
  calls: undefined,
  rates: undefined,
  onboarding: undefined,
  clock: systemClock,
  uploads,
  maxSessionsPerDevice: 1,
  nextSessionId: () => records.size,
  recordOf: ({ deviceId }: DeviceIdentity) => recordAt(deviceId),
  recordAt,
  heard: (record: DeviceRecord) => (record.heardAt = systemClock.now()),
  tellSurely: (record: DeviceRecord, event: SessionEvent) => void record.actor.tell(event),
  touched: () => undefined,
  sessionsChanged: () => undefined,
  readFailed: () => undefined,
  readShared: () => Promise.resolve([]),
  answerRequest: () => Promise.resolve({ client: [], shared: [] }),
}
const kind = {
  name: 'session',
  create: ({ id }: { id: string }) => new SessionActor(host, id, { tell: () => true }),
}
const listener = { sharedAttributesChanged: () => undefined, closed: () => undefined }

function recordAt(deviceId: string): DeviceRecord {
  const record = records.get(deviceId)
  if (record === undefined) throw new Error(`no device ${deviceId}`)
  return record
}

const sessions = Array.from({ length: DEVICES }, (_, index) => {
  const device: DeviceIdentity = {
    deviceId: systemRandom.uuid(),
    tenantId: 'bench',
    customerId: null,
    deviceName: `bench ${index}`,
    deviceType: 'default',
    deviceProfileId: 'bench',
    ruleChainId: null,
  }
  records.set(device.deviceId, new DeviceRecord(device, actors.spawn(kind, device.deviceId)))
  return new LocalDeviceSession(host, recordAt(device.deviceId), listener, true)
})

function upload(ts: number): readonly UploadGroup[] {
  return [{ ts, entries: [{ key: 'temperature', type: 'DOUBLE', value: ts / 7 }], json: '{"temperature":21.5}' }]
}

/** Each turn brings so many messages of each device. */
async function run(perTurn: number, post: (session: LocalDeviceSession, groups: readonly UploadGroup[]) => void) {
  const began = process.cpuUsage()
  const goal = stored + MESSAGES
  for (let ts = 1_700_000_000_000; stored < goal; ts += perTurn) {
    for (const session of sessions) for (let index = 0; index < perTurn; index++) post(session, upload(ts + index))
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const { user, system } = process.cpuUsage(began)
  return ((user + system) * 1000) / MESSAGES
}

function viaMailbox(session: LocalDeviceSession, groups: readonly UploadGroup[]): void {
  session.postTelemetry(groups, NOBODY)
}

function straight(session: LocalDeviceSession, groups: readonly UploadGroup[]): void {
  const record = recordAt(session.device.deviceId)
  uploads.telemetry(record, host.heard(record), groups, NOBODY)
}

function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? NaN
}

for (const perTurn of [1, 2, 10]) {
  const mailbox: number[] = []
  const direct: number[] = []
  for (let turn = 0; turn < RUNS; turn++) {
    mailbox.push(await run(perTurn, viaMailbox))
    direct.push(await run(perTurn, straight))
  }
  const [through, without] = [median(mailbox), median(direct)]
  const extra = median(mailbox.map((figure, index) => figure - (direct[index] ?? NaN)))
  process.stdout.write(
    `${perTurn} a device and turn: ${through.toFixed(0)} ns through the mailbox, ${without.toFixed(0)} ns without, ${extra.toFixed(0)} ns more\n`,
  )
}
process.exit(0)
