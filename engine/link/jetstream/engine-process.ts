/**
 * For tests: an engine as a process of its own, which can be killed and stopped. It settles what it gets a moment later, and tells its parent in
 * lines: `ready`, `d <id>` delivered, `s <id>` settled, `e <event>`. A line `close` on its input ends it in order.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { systemClock, systemRandom } from '../../../model/system-clock.ts'
import { natsBus } from '../../cluster/nats-bus.ts'
import { connectNats } from '../../cluster/nats-connection.ts'
import { openMembership } from '../../cluster/nats-membership.ts'
import type { Delivery } from '../link.ts'
import { openJetStreamLink } from './jetstream-link.ts'

const [servers = '', prefix = '', partitions = '4', replicas = '1'] = process.argv.slice(2)
const say = (lines: readonly string[]): void => {
  if (lines.length > 0) writeSync(1, `${lines.join('\n')}\n`)
}
const line = await connectNats({ servers, name: 'engine', clock: systemClock })
const membership = await openMembership({
  bus: natsBus(line, (error) => say([`e ${String(error)}`])),
  cluster: prefix,
  self: { id: systemRandom.uuid(), roles: ['engine'], startedAt: systemClock.now() },
  clock: systemClock,
})
const link = await openJetStreamLink({
  line,
  prefix,
  partitions: Number(partitions),
  streams: 4,
  replicas: Number(replicas),
  maxBytesPerPartition: 16 << 20,
  bounds: { retentionBytes: 32 << 20 },
  maxLetters: 1000,
  maxLetterBytes: 16 << 20,
  membership,
  clock: systemClock,
  random: systemRandom,
  onEvent: (event) => say([`e ${JSON.stringify(event)}`]),
})
let held: Delivery[] = []
link.consume({
  room: () => 1000 - held.length,
  deliver: (batch) => {
    say(batch.map(({ message }) => `d ${message.id}`))
    held.push(...batch)
    if (held.length > batch.length) return
    systemClock.after(5, () => {
      const settled = held
      held = []
      link.settle(settled)
      say(settled.map(({ message }) => `s ${message.id}`))
      link.wake()
    })
  },
})
say(['ready'])
createInterface({ input: process.stdin }).on('line', () => {
  void link
    .close()
    .then(() => membership.close())
    .then(() => line.close())
    .then(() => process.exit(0))
})
