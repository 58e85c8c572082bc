/** Lanes that a queue parked and that are `Main`'s since it is gone: what comes of their originators stays behind them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NULL_UUID } from '../../model/entity-id.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { message, SimulatedDisk } from '../link/testkit.ts'
import { openParking, type OpenParking } from '../parking/testkit.ts'
import { createQueues, type QueueDefinition, type Queues } from './queues.ts'
import { MemoryLink } from './testkit.ts'
import type { Work } from './work.ts'

const GONE: QueueDefinition = {
  tenantId: NULL_UUID,
  name: 'Gone',
  submitStrategy: { type: 'BURST', batchSize: 10 },
  processingStrategy: {
    type: 'RETRY_FAILED_AND_TIMED_OUT',
    retries: 5,
    failurePercentage: 0,
    pauseBetweenRetries: 1,
    maxPauseBetweenRetries: 1,
  },
  packProcessingTimeout: 60_000,
}

interface Opened extends OpenParking {
  readonly clock: ManualClock
  readonly queues: Queues
  readonly take: () => Work[]
  readonly publish: (data: string, queueName?: string) => void
}

/** A lane of `Gone` with the messages 1 and 2 is parked, and the queue is gone. */
async function openWithParkedLane(): Promise<Opened> {
  const clock = new ManualClock()
  const opening = openParking(new SimulatedDisk(clock, new SeededRandom(1)), clock)
  await clock.advance(100)
  const parking = await opening
  const link = new MemoryLink()
  const works: Work[] = []
  const processor = { process: (pack: readonly Work[]) => void works.push(...pack) }
  const settings = { triesBeforeParking: 1 }
  const queues = createQueues({ link, processor, clock, parking: parking.parking, settings }, [GONE])
  const take = (): Work[] => works.splice(0)
  const publish = (data: string, queueName?: string): void => link.publish(message({ data, queueName, device: 1 }))
  publish('1', 'Gone')
  publish('2', 'Gone')
  take().forEach((work) => work.end(new Error('no')))
  await clock.advance(100)
  queues.apply([])
  await clock.advance(100)
  assert.deepEqual(
    queues.figures().map(({ queueName }) => queueName),
    ['Main'],
  )
  assert.deepEqual([parking.parking.figures().messages, take().length], [2, 0])
  return { ...parking, clock, queues, take, publish }
}

const texts = (works: readonly Work[]): string[] => works.map((work) => work.message.data)

test('issue-8 I: what comes to Main of an originator with a parked lane of a queue that is gone waits behind that lane', async () => {
  const { clock, take, publish, parking } = await openWithParkedLane()
  publish('3')
  publish('4', 'Gone')
  await clock.advance(100)
  assert.deepEqual([texts(take()), parking.figures().messages], [[], 4])
  const begun: string[] = []
  for (let step = 0; step < 30; step++) {
    await clock.advance(100)
    for (const work of take()) {
      begun.push(work.message.data)
      work.end()
    }
  }
  assert.deepEqual([begun, parking.figures().lanes], [['1', '2', '3', '4'], 0])
})

test('issue-8 I: a lane of a queue that is gone and what Main has behind it are parked as one', async () => {
  const { clock, take, publish, parking } = await openWithParkedLane()
  await clock.advance(1200)
  take().forEach((work) => work.end())
  await clock.advance(100)
  const [second] = take()
  assert.equal(second?.message.data, '2')
  publish('3')
  const [third] = take()
  assert.equal(third?.message.data, '3', 'all of the lane is handed out')
  third?.end(new Error('no'))
  second?.end(new Error('no'))
  await clock.advance(100)
  assert.deepEqual([parking.figures().lanes, parking.figures().messages], [1, 2])
  const begun: string[] = []
  for (let step = 0; step < 30; step++) {
    await clock.advance(100)
    for (const work of take()) {
      begun.push(work.message.data)
      work.end()
    }
  }
  assert.deepEqual(begun, ['2', '3'])
})
