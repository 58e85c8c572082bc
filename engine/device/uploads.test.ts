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
  const uploads = new Uploads(link, new MessageIds(new SeededRandom(1)))
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
