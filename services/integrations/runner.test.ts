import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Member, Membership } from '../../engine/cluster/membership.ts'
import { partitionOwners } from '../../engine/device/partition-owners.ts'
import { ManualClock } from '../../model/manual-clock.ts'
import { until } from '../../test/support/until.ts'
import { AddressGuard } from '../outbound/address-guard.ts'
import type { Integration } from '../entities/integration.ts'
import { FigureBook } from './figures.ts'
import { IntegrationRunner } from './runner.ts'
import { SourceShares } from './source-shares.ts'
import { TestInlet } from './source.testkit.ts'

const PROCESSES = ['first', 'second', 'third'] as const
const ALL: readonly Integration[] = Array.from({ length: 12 }, (_, number) => ({
  ...{
    id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    tenantId: 't',
    name: `integration ${number}`,
  },
  ...{ type: 'HTTP', enabled: true, allowCreateDevices: true, converter: {}, configuration: {}, routingKey: null },
  ...{ additionalInfo: null, createdTime: 1, version: 1 },
}))

/** Processes that see each other, and what each of them runs. */
function openProcesses(context: TestContext) {
  const running = new Map<string, Set<string>>()
  const alive = new Set<string>(PROCESSES)
  const listeners = new Set<() => void>()
  const member = (id: string): Member => ({ id, roles: ['engine'], startedAt: 1 })
  const start = async (id: string) => {
    const own = new Set<string>()
    running.set(id, own)
    const membership: Membership = {
      self: member(id),
      members: () => [...alive].sort().map(member),
      onChange: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      close: () => Promise.resolve(),
    }
    const runner = new IntegrationRunner({
      integrations: {
        find: (wanted) => Promise.resolve(ALL.find((each) => each.id === wanted)),
        enabled: () => Promise.resolve(ALL),
        open: (integration) => ({
          ...{ json: {}, place: '', check: () => undefined },
          open: ({ connected }) => {
            own.add(integration.id)
            connected(true)
            return Promise.resolve({ close: () => Promise.resolve(void own.delete(integration.id)) })
          },
        }),
      },
      intake: { open: () => Promise.resolve(Object.assign(new TestInlet(), { close: () => undefined })) },
      figures: new FigureBook({
        ...{ clock: new ManualClock(), report: assert.fail, server: id, events: { add: () => undefined } },
        attributes: {
          find: () => Promise.resolve({ value: [], sequence: 0 }),
          save: () => Promise.resolve(),
        },
      }),
      attributes: { find: () => Promise.resolve({ value: [], sequence: 0 }), save: () => Promise.resolve() },
      owners: partitionOwners({ membership, partitions: 12 }),
      feed: {
        listenToAll: () => () => undefined,
        onGap: () => () => undefined,
        settled: () => Promise.resolve(),
      },
      shares: new SourceShares({ tenantPorts: 1, maxConnections: 1, maxBytes: 1, maxFetchedBytes: 1 }),
      ...{ guard: new AddressGuard([]), root: undefined, clock: new ManualClock(), report: assert.fail },
    })
    context.after(() => runner.close())
    await runner.start()
    return runner
  }
  return {
    start,
    /** Each that runs, as often as it does. */
    all: () => [...running.values()].flatMap((own) => [...own]).sort(),
    of: (id: string) => running.get(id) ?? new Set<string>(),
    /** The others see that it is gone. */
    gone: (id: string) => {
      alive.delete(id)
      for (const listener of [...listeners]) listener()
    },
  }
}

test('each integration is run by one of several processes, and by another where that one is gone', async (context) => {
  const processes = openProcesses(context)
  const runners = await Promise.all(PROCESSES.map(processes.start))
  const ids = ALL.map(({ id }) => id)
  assert.deepEqual(processes.all(), ids)
  assert.ok(
    PROCESSES.every((id) => processes.of(id).size > 0),
    'one of them has none',
  )
  const before = new Set(processes.of('second'))
  await runners[0]?.close()
  assert.equal(processes.of('first').size, 0)
  processes.gone('first')
  await until(() => processes.all().length === ids.length)
  assert.deepEqual(processes.all(), ids)
  assert.ok(
    [...before].every((id) => processes.of('second').has(id)),
    'one that stayed with its owner went elsewhere',
  )
})

test('a process that is cut off, and so sees itself alone no more, runs none', async (context) => {
  const processes = openProcesses(context)
  await Promise.all(PROCESSES.map(processes.start))
  processes.gone('third')
  await until(() => processes.of('third').size === 0)
  await until(() => processes.all().length === ALL.length)
})
