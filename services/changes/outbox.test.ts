import assert from 'node:assert/strict'
import { threadArguments } from '../../model/thread-arguments.ts'
import { pageOfDevices } from '../../storage/entities/contract-testkit.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { devices } from '../entities/device.ts'
import { customers } from '../entities/customer.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import { openEntityStore } from '../../storage/entities/entity-store.ts'
import { until } from '../../test/support/until.ts'
import { rowsOf } from '../entities/rows.ts'
import { tenants } from '../entities/tenant.ts'
import { OutboxPublisher } from './outbox.ts'
import { openTestPlatform, TestClock, TestLink, type TestPlatform } from '../testkit.ts'

const LinkErrors = defineErrors('test-link', {
  FULL: { kind: 'retryable', status: 503, text: 'full' },
  TOO_LARGE: { kind: 'invalid', status: 413, text: 'too large' },
  CLOSED: { kind: 'terminal', status: 503, text: 'closed' },
})

async function withPlatform(
  options: { start?: boolean },
  run: (platform: TestPlatform) => Promise<void>,
): Promise<void> {
  const platform = await openTestPlatform(options)
  try {
    await run(platform)
  } finally {
    platform.link.storeHeld()
    await platform.close()
  }
}

function create({ services, tenant }: TestPlatform, name: string) {
  return services.devices.saveByUser(tenant, { name })
}

function names(link: TestLink): readonly (string | undefined)[] {
  return link.messages.map((message) => message.metadata['entityName'])
}

test('a message leaves the outbox only after the link has stored it', async () => {
  await withPlatform({}, async (platform) => {
    platform.link.holdsReceipts = true
    await create(platform, 'a')
    assert.deepEqual(names(platform.link), ['a'])
    assert.equal(await platform.entities.outbox.size(), 1)
    platform.link.storeHeld()
    await until(async () => (await platform.entities.outbox.size()) === 0)
  })
})

test('what was committed before the start is published first, in order and once', async () => {
  await withPlatform({ start: false }, async (platform) => {
    for (const name of ['a', 'b', 'c']) await create(platform, name)
    assert.deepEqual(names(platform.link), [])
    const started = platform.services.startOutbox()
    const later = create(platform, 'd')
    await Promise.all([started, later])
    await until(async () => (await platform.entities.outbox.size()) === 0)
    assert.deepEqual(names(platform.link), ['a', 'b', 'c', 'd'])
  })
})

test('a link that is full is given the message again, with the same id', async () => {
  await withPlatform({}, async (platform) => {
    platform.link.refusals.push(LinkErrors.FULL())
    await create(platform, 'a')
    assert.deepEqual(names(platform.link), [])
    const [kept] = await platform.entities.outbox.after(0, 10)
    platform.clock.runTimers()
    assert.deepEqual(
      platform.link.messages.map((message) => message.id),
      [kept?.message.id],
    )
    await until(async () => (await platform.entities.outbox.size()) === 0)
  })
})

test('waits while the link is not writable and goes on when it is', async () => {
  await withPlatform({}, async (platform) => {
    platform.link.writable = false
    await create(platform, 'a')
    await create(platform, 'b')
    assert.deepEqual(names(platform.link), [])
    platform.link.becomeWritable()
    assert.deepEqual(names(platform.link), ['a', 'b'])
  })
})

test('a message that the link never takes is reported and does not come back', async () => {
  await withPlatform({}, async (platform) => {
    platform.link.refusals.push(LinkErrors.TOO_LARGE())
    await create(platform, 'a')
    await until(async () => (await platform.entities.outbox.size()) === 0)
    assert.deepEqual(platform.reports, ['The link will never take a message of the outbox; it is dropped'])
  })
})

test('a message that a closing link refuses stays for the next start', async () => {
  await withPlatform({}, async (platform) => {
    platform.link.refusals.push(LinkErrors.CLOSED())
    await create(platform, 'a')
    assert.equal(await platform.entities.outbox.size(), 1)
    await platform.services.close()
    const clock = new TestClock()
    const next = new TestLink()
    const publisher = new OutboxPublisher(platform.entities, next, clock, (text) => assert.fail(text))
    await publisher.start()
    assert.deepEqual(names(next), ['a'])
    await publisher.close()
  })
})

test('more entries than one page are all published, in order', async () => {
  await withPlatform({ start: false }, async (platform) => {
    const { entities, services, link } = platform
    await create(platform, 'first')
    const [entry] = await entities.outbox.after(0, 1)
    assert.ok(entry !== undefined)
    const count = 2_500
    for (let index = 0; index < count; index += 500) {
      const steps = Array.from({ length: 500 }, (_, step) =>
        entities.outbox.add(entry.message.with({ data: String(index + step) })),
      )
      await entities.write(steps)
    }
    await services.startOutbox()
    await until(async () => (await entities.outbox.size()) === 0)
    assert.deepEqual(
      link.messages.slice(1).map((message) => Number(message.data)),
      Array.from({ length: count }, (_, index) => index),
    )
  })
})

test('what does not fit into memory while the link is full waits in the table, and nothing is skipped', async () => {
  await withPlatform({}, async (platform) => {
    await create(platform, 'first')
    await until(async () => (await platform.entities.outbox.size()) === 0)
    const [first] = platform.link.messages
    assert.ok(first !== undefined)
    const link = new TestLink()
    link.writable = false
    const publisher = new OutboxPublisher(platform.entities, link, platform.clock, (text) => assert.fail(text))
    await publisher.start()
    const count = 10_050
    const messages = Array.from({ length: count }, (_, index) => first.with({ data: String(index) }))
    const written = await platform.entities.write(messages.map((message) => platform.entities.outbox.add(message)))
    for (const [index, message] of messages.entries()) {
      publisher.committed({ id: platform.entities.outbox.addedId(written, index), message })
    }
    link.becomeWritable()
    await until(async () => (await platform.entities.outbox.size()) === 0)
    assert.deepEqual(
      link.messages.map((message) => Number(message.data)),
      Array.from({ length: count }, (_, index) => index),
    )
    await publisher.close()
  })
})

test('a process killed after the commit leaves the change and its message, both or neither', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-outbox-'))
  const file = path.join(folder, 'entities.db')
  const clock = new TestClock()
  let acknowledged = 0
  try {
    for (let run = 1; run <= 3; run++) acknowledged += await runAndKill(file, run)
    const entities = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    const tenant = await rowsOf(tenants, entities).find([])
    const { data: found } = await pageOfDevices(entities, String(tenant?.['id']), {
      pageSize: 100_000,
      page: 0,
      textSearch: 'run ',
    })
    const link = new TestLink()
    const publisher = new OutboxPublisher(entities, link, clock, (text) => assert.fail(text))
    await publisher.start()
    await publisher.close()
    assert.equal(await entities.outbox.size(), 0)
    assert.ok(
      found.length >= acknowledged && acknowledged >= 30,
      `${found.length} devices, ${acknowledged} acknowledged`,
    )
    assert.deepEqual([...names(link)].sort(), found.map((device) => device.name).sort())
    await entities.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

/** Creates devices in a process of its own until it has acknowledged ten, then kills it; how many it had acknowledged. */
async function runAndKill(file: string, run: number): Promise<number> {
  const script = path.join(import.meta.dirname, 'outbox-crash.ts')
  const child = spawn(process.execPath, [...threadArguments(), script, file, String(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let acknowledged = 0
  child.stdout.on('data', (chunk: Buffer) => {
    acknowledged += chunk.toString().split('\n').length - 1
    if (acknowledged >= 10) child.kill('SIGKILL')
  })
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL')
  return acknowledged
}

test('issue-8 6: a change whose message the link never takes is refused with 413 before anything is written', async () => {
  await withPlatform({}, async (platform) => {
    const { link, services, entities, timeSeries, tenant } = platform
    const device = await create(platform, 'a')
    const entity = { entityType: 'DEVICE', id: device.id } as const
    await until(async () => (await entities.outbox.size()) === 0)
    link.maxMessageSize = 1000
    const long = { key: 'long', type: 'STRING', value: 'x'.repeat(2000) } as const
    const tooLarge = { code: 'link.MESSAGE_TOO_LARGE', status: 413 }
    await assert.rejects(services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [long]), tooLarge)
    await assert.rejects(services.telemetry.saveByUser(tenant, entity, [{ ts: 1, entries: [long] }], 0), tooLarge)
    const keys = Array.from({ length: 300 }, (_, index) => `key ${index}`)
    const range = { keys, startTs: 0, endTs: 9, rewriteLatest: false, deleteLatest: true }
    await assert.rejects(services.telemetry.deleteByUser(tenant, entity, range), tooLarge)
    await assert.rejects(services.attributes.deleteByUser(tenant, entity, 'SERVER_SCOPE', keys), tooLarge)
    const additionalInfo = { description: long.value }
    await assert.rejects(services.devices.saveByUser(tenant, { name: 'b', additionalInfo }), tooLarge)
    await assert.rejects(services.declared.of(customers).saveByUser(tenant, { title: 'c', additionalInfo }), tooLarge)
    assert.deepEqual((await services.attributes.find(entity, 'SERVER_SCOPE', ['long'])).value, [])
    assert.deepEqual([timeSeries.writes, timeSeries.ranges], [[], []])
    assert.equal(await platform.services.declared.of(devices).findByName(platform.tenantId, 'b'), undefined)
    assert.deepEqual([await entities.outbox.size(), platform.reports], [0, []])
  })
})

test('while entries are held none leaves the table, and they leave afterwards', async () => {
  await withPlatform({}, async (platform) => {
    const release = platform.services.holdOutbox()
    await create(platform, 'a')
    await create(platform, 'b')
    assert.deepEqual(names(platform.link), ['a', 'b'])
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(await platform.entities.outbox.size(), 2)
    release()
    release()
    await until(async () => (await platform.entities.outbox.size()) === 0)
  })
})
