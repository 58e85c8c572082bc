import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { SeededRandom } from '../actor/testkit.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { ActorRef } from '../actor/actor.ts'
import { DeviceRecord } from './device-record.ts'
import { DeviceErrors } from './errors.ts'
import { MessageIds } from './message-ids.ts'
import type { SessionEvent } from './session-events.ts'
import { identityOf } from './testkit.ts'
import { FEATURE, USAGE, UsageMeter } from '../usage/usage.ts'
import { Uploads } from './uploads.ts'

const NOBODY: ActorRef<SessionEvent> = {
  id: 'one',
  tell: () => true,
  tellUrgent: () => true,
  stop: () => Promise.resolve(),
}

test('issue-8 D: of an upload whose first element is refused nothing follows under the time of the upload before', () => {
  const published: Message[] = []
  const link = {
    publish(message: Message, receipt: PublishReceipt): void {
      if (message.data.length > 100) return receipt.refused(DeviceErrors.MAILBOX_FULL())
      published.push(message)
    },
  }
  const uploads = new Uploads(link, new MessageIds(new SeededRandom(1)), new UsageMeter())
  const errors: MillraceError[] = []
  const receipt: PublishReceipt = {
    stored: () => assert.fail('it was refused'),
    refused: (error) => errors.push(error),
  }
  const record = new DeviceRecord(identityOf('one'), NOBODY)
  const large = { ts: undefined, entries: [{ key: 'a', type: 'STRING', value: 'x'.repeat(200) }] } as const
  const small = { ts: undefined, entries: [{ key: 'a', type: 'LONG', value: 1 }] } as const
  uploads.telemetry(record, 1, [large, small, small], receipt)
  assert.deepEqual(published, [])
  assert.equal(errors.length, 1)
})

test('what devices send is counted, and refused once their tenant has used it up', () => {
  const published: Message[] = []
  const link = {
    publish(message: Message, receipt: PublishReceipt): void {
      published.push(message)
      receipt.stored()
    },
  }
  const meter = new UsageMeter()
  const uploads = new Uploads(link, new MessageIds(new SeededRandom(1)), meter)
  const outcomes: string[] = []
  const receipt: PublishReceipt = { stored: () => outcomes.push('stored'), refused: ({ code }) => outcomes.push(code) }
  const record = new DeviceRecord(identityOf('one'), NOBODY)
  const point = { key: 'a', type: 'LONG', value: 1 } as const
  uploads.telemetry(
    record,
    1,
    [
      { ts: 1, entries: [point, { ...point, key: 'b' }] },
      { ts: 2, entries: [point] },
    ],
    receipt,
  )
  uploads.attributes(record, 1, [point], receipt)
  const { tenantId } = record.identity
  const counts = meter.take().get(tenantId) ?? []
  assert.deepEqual([counts[USAGE.transportMessages], counts[USAGE.transportDataPoints]], [2, 4])
  meter.setDisabledOf(tenantId, FEATURE.TRANSPORT)
  uploads.telemetry(record, 1, [{ ts: 3, entries: [point] }], receipt)
  uploads.attributes(record, 1, [point], receipt)
  meter.setDisabledOf(tenantId, 0)
  uploads.attributes(record, 1, [point], receipt)
  assert.deepEqual(outcomes, ['stored', 'stored', 'device.USAGE_LIMIT', 'device.USAGE_LIMIT', 'stored'])
  assert.equal(published.length, 4)
  uploads.attributes(record, 1, [point], receipt, 'SHARED_SCOPE')
  const scopes = published.slice(-2).map(({ metadata }) => metadata['scope'])
  assert.deepEqual(scopes, [undefined, 'SHARED_SCOPE'])
})
