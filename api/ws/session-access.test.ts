import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEVICE, FOREIGN, point, sessionBench, settled, series, update, failure, authenticated } from './testkit.ts'

describe('access to a subscription', () => {
  const changes = [
    { kind: 'device-changed', entity: DEVICE, credentialsChanged: false },
    { kind: 'entity-deleted', entity: DEVICE, tenantId: 'any' },
  ] as const

  for (const change of changes) {
    test(`issue-8 2.4: is looked at again at ${change.kind}: lost, it ends with an error and shows nothing more`, async () => {
      const bench = sessionBench()
      const { session, socket } = await authenticated(bench)
      await bench.say(session, series(1, { keys: 'a' }))
      socket.frames()
      bench.store.accessible = false
      bench.store.feed.publish(change)
      bench.store.save(point('a', 1, 1))
      await settled()
      bench.clock.endTurn()
      assert.deepEqual(socket.frames(), [failure(1, 1, 'Failed to fetch data!')])
      assert.equal(session.subscriptionCount, 0)
      bench.store.save(point('a', 2, 2))
      bench.clock.endTurn()
      assert.deepEqual(socket.frames(), [])
      assert.equal(socket.closing, undefined)
    })
  }

  test('that is kept shows what came while it was looked at', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 'a' }))
    socket.frames()
    bench.store.hold()
    bench.store.feed.publish(changes[0])
    bench.store.save(point('a', 1, 1))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [])
    bench.store.release()
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { a: [[1, '1']] })])
  })

  test('is asked for again until the store answers', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 'a' }))
    socket.frames()
    bench.store.failure = new Error('the store does not answer')
    bench.store.accessible = false
    bench.store.feed.publish(changes[0])
    await settled()
    bench.store.save(point('a', 1, 1))
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [])
    bench.store.failure = undefined
    bench.clock.advance(1000)
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [failure(1, 1, 'Failed to fetch data!')])
  })
})

describe('access after a gap', () => {
  test('issue-8 2.4: while the store does not say who may see the device, nothing of it is shown', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 'a' }))
    socket.frames()
    bench.store.hold()
    bench.store.failure = new Error('the store does not answer')
    bench.store.accessible = false
    bench.store.feed.gap()
    bench.store.save(point('a', 1, 1))
    bench.store.release()
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [])
    bench.store.failure = undefined
    bench.clock.advance(1000)
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [failure(1, 1, 'Failed to fetch data!')])
  })
})

describe('access to what ENTITY_DATA reads', () => {
  const query = {
    entityFilter: { type: 'entityType', entityType: 'DEVICE' },
    pageLink: { page: 0, pageSize: 10, sortOrder: { key: { type: 'ENTITY_FIELD', key: 'name' }, direction: 'ASC' } },
    latestValues: [],
  }
  const command = (members: object) => ({ cmds: [{ type: 'ENTITY_DATA', cmdId: 1, ...members }] })
  const historyCmd = { keys: ['t'], startTs: 0, endTs: 10 }
  const tsCmd = { keys: ['t'], startTs: 0, timeWindow: 10 }
  const shown = async (bench: ReturnType<typeof sessionBench>, socket: { readonly frames: () => unknown[] }) => {
    for (let turn = 0; turn < 4; turn++) {
      await settled()
      bench.clock.endTurn()
    }
    return JSON.stringify(socket.frames())
  }

  for (const members of [{ tsCmd }, { historyCmd }])
    test(`a series of a device that changes hands while it is read is not shown (${Object.keys(members)[0]})`, async () => {
      const bench = sessionBench()
      const { session, socket } = await authenticated(bench)
      bench.store.save(point('t', 5, 21))
      for (const isKept of [true, false]) {
        const release = bench.store.holdHistory()
        await bench.say(session, command({ query, ...members }))
        bench.store.accessible = isKept
        // The series is there before it is known whose the device is.
        bench.store.hold()
        bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
        release()
        await settled()
        bench.store.release()
        const frames = await shown(bench, socket)
        assert.match(frames, /"cmdUpdateType":"ENTITY_DATA"/)
        assert.equal(frames.includes('"value":"21"'), isKept, frames)
      }
    })

  test('a series of a device that changed hands between two commands is not shown', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    bench.store.save(point('t', 5, 21))
    bench.store.found = [DEVICE, FOREIGN]
    await bench.say(session, command({ query }))
    assert.ok((await shown(bench, socket)).includes(FOREIGN.id))
    bench.store.found = [DEVICE]
    await bench.say(session, command({ historyCmd }))
    const frames = await shown(bench, socket)
    assert.ok(frames.includes('"value":"21"') && !frames.includes(FOREIGN.id), frames)
  })

  for (const isLost of [false, true])
    test(`what is read again, or heard meanwhile, of a device that changes hands is not shown (${isLost ? 'once it is lost' : 'in doubt'})`, async () => {
      const bench = sessionBench()
      const { session, socket } = await authenticated(bench)
      bench.store.save(point('t', 5, 21))
      await bench.say(session, command({ query, tsCmd }))
      assert.ok((await shown(bench, socket)).includes('"value":"21"'))
      const release = bench.store.holdHistory()
      bench.store.feed.gap()
      await settled()
      bench.store.accessible = false
      if (!isLost) bench.store.hold()
      bench.store.commit(point('t', 6, 22))
      bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
      bench.store.save(point('t', 7, 23))
      await settled()
      release()
      const frames = await shown(bench, socket)
      assert.ok(!/"value":"2[23]"/.test(frames), frames)
      bench.store.release()
      assert.equal(await shown(bench, socket), '[]')
    })

  for (const answers of [true, false])
    test(`what is read again after a gap is not shown of a device that changed hands in it (the store ${answers ? 'answers' : 'does not answer'})`, async () => {
      const bench = sessionBench()
      const { session, socket } = await authenticated(bench)
      bench.store.save(point('t', 5, 21))
      const latestCmd = { keys: [{ type: 'TIME_SERIES', key: 't' }] }
      await bench.say(session, command({ query, tsCmd, latestCmd }))
      assert.ok((await shown(bench, socket)).includes('"value":"21"'))
      bench.store.found = []
      bench.store.accessible = false
      if (!answers) bench.store.failure = new Error('the store does not answer')
      bench.store.commit(point('t', 6, 22))
      bench.store.feed.gap()
      bench.store.save(point('t', 7, 23))
      assert.equal(await shown(bench, socket), '[]')
      bench.store.save(point('t', 8, 24))
      assert.equal(await shown(bench, socket), '[]')
      bench.store.failure = undefined
      bench.clock.advance(1000)
      assert.equal(await shown(bench, socket), '[]')
      bench.store.save(point('t', 9, 25))
      assert.equal(await shown(bench, socket), '[]')
    })

  test('what is read again after a gap is shown of a device that is the user’s still', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    bench.store.save(point('t', 5, 21))
    await bench.say(session, command({ query, tsCmd }))
    await shown(bench, socket)
    bench.store.found = []
    bench.store.commit(point('t', 6, 22))
    bench.store.feed.gap()
    bench.store.save(point('t', 7, 23))
    const frames = await shown(bench, socket)
    assert.ok(frames.includes('"value":"22"') && frames.includes('"value":"23"'), frames)
    bench.store.save(point('t', 8, 24))
    assert.match(await shown(bench, socket), /"value":"24"/)
  })
})
